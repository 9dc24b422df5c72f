//! The users and groups of this machine, as `/etc/passwd` and `/etc/group` list them. Those
//! of a directory service or of a service manager stand in neither: they go by number.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

/// Names and numbers of users and groups.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Accounts {
    users: BTreeMap<String, u32>,
    groups: BTreeMap<String, Group>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Group {
    gid: u32,
    members: BTreeSet<String>,
}

impl Accounts {
    /// This machine's; none where the files cannot be read.
    pub fn of_machine() -> Self {
        let text = |path| fs::read_to_string(path).unwrap_or_default();
        Self::parse(&text("/etc/passwd"), &text("/etc/group"))
    }

    /// Lines that are none are passed over.
    pub fn parse(passwd: &str, group: &str) -> Self {
        let users = passwd.lines().filter_map(|line| {
            let mut fields = line.split(':');
            let (name, _password, uid) = (fields.next()?, fields.next()?, fields.next()?);
            Some((name.to_owned(), uid.parse().ok()?))
        });
        let groups = group.lines().filter_map(|line| {
            let mut fields = line.split(':');
            let (name, _password, gid) = (fields.next()?, fields.next()?, fields.next()?);
            let members = fields.next().unwrap_or_default().split(',').map(str::trim);
            let members = members.filter(|name| !name.is_empty()).map(str::to_owned).collect();
            Some((name.to_owned(), Group { gid: gid.parse().ok()?, members }))
        });
        Self { users: users.collect(), groups: groups.collect() }
    }

    /// Number of a user by name or by the number itself.
    pub fn uid(&self, user: &str) -> Option<u32> {
        self.users.get(user).copied().or_else(|| user.parse().ok())
    }

    /// Number of a group by name or by the number itself.
    pub fn gid(&self, group: &str) -> Option<u32> {
        self.groups.get(group).map(|it| it.gid).or_else(|| group.parse().ok())
    }

    /// Name of a user, else the number.
    pub(super) fn user_name(&self, uid: u32) -> String {
        let named = self.users.iter().find(|(_, number)| **number == uid);
        named.map_or_else(|| uid.to_string(), |(name, _)| name.clone())
    }

    /// The groups that list this user as a member.
    pub(super) fn groups_of(&self, user: &str) -> impl Iterator<Item = u32> {
        self.groups.values().filter(move |it| it.members.contains(user)).map(|it| it.gid)
    }
}
