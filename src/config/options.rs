//! Settings as the other layers take them: typed, or refused by name.

use std::time::Duration;

use super::{AccessSettings, Config, ConfigError};
use crate::agent::model;
use crate::base::caller::Role;
use crate::base::picture::ImageLimits;
use crate::base::time::Zone;
use crate::model::endpoint::{self, Address};
use crate::model::served;
use crate::server::access::AccessTable;
use crate::server::accounts::Accounts;
use crate::tools::Toolset;

/// Of what a captioning server is asked.
const PROMPT_CHARACTERS_MAX: usize = 2_000;

impl Config {
    pub fn zone(&self) -> Result<Zone, ConfigError> {
        Zone::from_name(&self.settings.time.zone)
            .map_err(|error| self.refusal("time.zone", error.to_string()))
    }

    /// The toolsets that clients are shown.
    pub fn toolsets(&self) -> Result<Vec<Toolset>, ConfigError> {
        let set = &self.settings.tools.listed;
        let names = set.split(',').map(str::trim).filter(|name| !name.is_empty());
        let named: Option<Vec<Toolset>> = names.map(Toolset::from_name).collect();
        match named {
            Some(none) if none.is_empty() => Ok(Toolset::ALL.to_vec()),
            Some(toolsets) => Ok(toolsets),
            None => {
                let known = Toolset::ALL.map(Toolset::name).join(", ");
                Err(self.refusal("tools.listed", format!("any of {known}, with commas between")))
            }
        }
    }

    /// Names by which the robot is called; none where any may be its.
    pub fn robot_names(&self) -> Vec<String> {
        let names = self.settings.retrieval.robot_names.split(',').map(str::trim);
        names.filter(|it| !it.is_empty()).map(str::to_owned).collect()
    }

    /// Whether a start goes on with what is whole of a damaged store.
    pub fn salvages(&self) -> bool {
        self.settings.store.on_damage == "salvage"
    }

    /// Mode of the socket's file.
    pub fn socket_mode(&self) -> Result<u32, ConfigError> {
        let mode = u32::from_str_radix(self.settings.socket.mode.trim(), 8).ok();
        // Its own user must be able to connect, and a socket is not executed.
        mode.filter(|mode| mode & 0o600 == 0o600 && mode & !0o666 == 0).ok_or_else(|| {
            let accepted = "an octal mode such as \"0600\" (the daemon's user) or \"0660\" (its \
                group, too)";
            self.refusal("socket.mode", accepted.to_owned())
        })
    }

    /// Group of the socket's file.
    pub fn socket_group(&self, accounts: &Accounts) -> Result<Option<u32>, ConfigError> {
        let group = self.settings.socket.group.trim();
        if group.is_empty() {
            return Ok(None);
        }
        accounts.gid(group).map(Some).ok_or_else(|| {
            let accepted = "the name or number of a group of this machine".to_owned();
            self.refusal("socket.group", accepted)
        })
    }

    /// Who may do what.
    pub fn access(&self, accounts: Accounts) -> Result<AccessTable, ConfigError> {
        let AccessSettings { observe, read, write, erase, admin } = &self.settings.access;
        let mut table = AccessTable::own_user_only(accounts);
        for (role, names) in [
            (Role::Observe, observe),
            (Role::Read, read),
            (Role::Write, write),
            (Role::Erase, erase),
            (Role::Admin, admin),
        ] {
            table.grant(role, names).map_err(|unknown| {
                let accepted = format!(
                    "users and, after an @, groups of this machine by name or number, with commas \
                     between them; there is no {unknown}"
                );
                self.refusal(&format!("access.{}", role.name()), accepted)
            })?;
        }
        Ok(table)
    }

    /// The language model's server, where one is set.
    pub fn endpoint(&self) -> Result<Option<endpoint::Options>, ConfigError> {
        let settings = &self.settings.agent;
        if settings.endpoint.trim().is_empty() {
            return Ok(None);
        }
        let address = Address::parse(&settings.endpoint)
            .map_err(|error| self.refusal("agent.endpoint", error.to_string()))?;
        let (model, timeout) = (settings.model.clone(), settings.timeout_seconds);
        let timeout = Duration::from_secs(timeout);
        Ok(Some(endpoint::Options { address, model, timeout }))
    }

    /// The server that captions, where one is set.
    pub fn served_captioner(&self) -> Result<Option<served::Options>, ConfigError> {
        let settings = &self.settings.captioner;
        if settings.endpoint.trim().is_empty() {
            return Ok(None);
        }
        let address = Address::parse(&settings.endpoint)
            .map_err(|error| self.refusal("captioner.endpoint", error.to_string()))?;
        let model = settings.endpoint_model.trim().to_owned();
        let deadline = Duration::from_secs(settings.deadline_seconds);
        let prompt = self.caption_prompt()?;
        Ok(Some(served::Options { address, model, prompt, deadline, limits: self.image_limits() }))
    }

    /// What a server is asked of each image.
    fn caption_prompt(&self) -> Result<String, ConfigError> {
        let prompt = self.settings.captioner.endpoint_prompt.trim();
        let characters = prompt.chars().count();
        if characters > PROMPT_CHARACTERS_MAX {
            let reason =
                format!("{characters} characters, accepted are up to {PROMPT_CHARACTERS_MAX}");
            return Err(self.refusal("captioner.endpoint_prompt", reason));
        }
        Ok(if prompt.is_empty() { served::PROMPT } else { prompt }.to_owned())
    }

    /// Limits of accepted images.
    pub fn image_limits(&self) -> ImageLimits {
        let settings = &self.settings.ingest;
        ImageLimits {
            bytes_max: settings.image_max_mb << 20,
            pixels_max: settings.image_max_megapixels * 1_000_000,
        }
    }

    /// The language model that plans, where a server is set.
    pub fn model(&self) -> Result<Option<model::Options>, ConfigError> {
        // The call that waits for the model has its own deadline, just after.
        let deadline = self.settings.call_deadline();
        let time_max = deadline.saturating_sub(Duration::from_secs(1)).max(deadline / 2);
        let steps_max = self.settings.agent.steps_max;
        let options = |endpoint| model::Options { endpoint, steps_max, time_max };
        Ok(self.endpoint()?.map(options))
    }
}
