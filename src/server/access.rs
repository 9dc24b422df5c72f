//! Which roles has who connects? By the user and the groups that the kernel says of it.

use std::collections::BTreeMap;

use crate::base::caller::{Caller, Role, Roles};
use crate::server::accounts::Accounts;

/// Stands before the name of a group in the settings.
const GROUP: char = '@';

/// Roles of users and groups. The daemon's own user has all, and nobody else any, root
/// neither, unless it was given them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AccessTable {
    own_uid: u32,
    users: BTreeMap<u32, Roles>,
    groups: BTreeMap<u32, Roles>,
    accounts: Accounts,
}

impl AccessTable {
    /// Nobody but this process's user.
    pub fn own_user_only(accounts: Accounts) -> Self {
        let own_uid = rustix::process::geteuid().as_raw();
        Self { own_uid, users: BTreeMap::new(), groups: BTreeMap::new(), accounts }
    }

    /// Gives a role to users and groups: names or numbers with commas between them, those of
    /// groups after an `@`. Returns the first that is none of this machine.
    pub fn grant(&mut self, role: Role, names: &str) -> Result<(), String> {
        let role = Roles::of(&[role]);
        for name in names.split(',').map(str::trim).filter(|name| !name.is_empty()) {
            let (table, number) = match name.strip_prefix(GROUP) {
                Some(group) => (&mut self.groups, self.accounts.gid(group)),
                None => (&mut self.users, self.accounts.uid(name)),
            };
            let roles = table.entry(number.ok_or_else(|| name.to_owned())?).or_default();
            *roles = roles.and(role);
        }
        Ok(())
    }

    /// Who is at the other end, by what the kernel noted when it connected. The groups are
    /// the process's own at that time and those that list the user as a member.
    pub(super) fn caller(&self, uid: u32, gid: u32, pid: Option<u32>) -> Caller {
        let user = self.accounts.user_name(uid);
        let is_own = uid == self.own_uid;
        let own = if is_own { Roles::ALL } else { Roles::NONE };
        let of_user = self.users.get(&uid).copied().unwrap_or_default();
        let groups = self.accounts.groups_of(&user).chain([gid]);
        let of_groups = groups.filter_map(|gid| self.groups.get(&gid).copied());
        let roles = of_groups.fold(own.and(of_user), Roles::and);
        Caller { uid, user, pid, roles, is_own }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PASSWD: &str = "root:x:0:0:root:/root:/bin/bash\nanna:x:1001:1001::/home/anna:/bin/sh\n\
        ben:x:1002:1002::/:\nbroken\n:x\nodd:x:many:1:::\n";
    const GROUP: &str = "root:x:0:\ncameras:x:44:ben, anna\nrobots:x:45\nodd:x:many:anna\n";

    fn table(grants: &[(Role, &str)]) -> AccessTable {
        let accounts = Accounts::parse(PASSWD, GROUP);
        let mut table = AccessTable { own_uid: 900, ..AccessTable::own_user_only(accounts) };
        for (role, names) in grants {
            table.grant(*role, names).unwrap();
        }
        table
    }

    #[test]
    fn the_own_user_has_all_and_nobody_else_any() {
        let table = table(&[]);
        assert_eq!(table.caller(900, 900, None).roles, Roles::ALL);
        for uid in [0, 1001, 65_534] {
            let caller = table.caller(uid, uid, Some(7));
            assert!(caller.roles.is_empty() && !caller.is_own, "{caller}");
        }
        assert_eq!(table.caller(1001, 5, Some(7)).to_string(), "anna (uid 1001, process 7)");
        assert_eq!(table.caller(65_534, 5, None).to_string(), "65534 (uid 65534)");
    }

    #[test]
    fn users_and_groups_get_their_roles() {
        let table = table(&[
            (Role::Observe, "@cameras, 2000"),
            (Role::Read, "anna,@45"),
            (Role::Erase, " anna ,"),
        ]);
        let roles = |uid, gid| table.caller(uid, gid, None).roles.to_string();
        assert_eq!(roles(1001, 1001), "observe, read, erase");
        assert_eq!(roles(1002, 1002), "observe");
        assert_eq!(roles(2000, 45), "observe, read");
        assert_eq!(roles(3000, 44), "observe");
        assert_eq!(roles(0, 0), "");
    }

    #[test]
    fn who_is_not_of_this_machine_is_named() {
        let mut table = table(&[]);
        assert_eq!(table.grant(Role::Read, "anna, clara"), Err("clara".to_owned()));
        assert_eq!(table.grant(Role::Read, "@anna"), Err("@anna".to_owned()));
        assert_eq!(table.grant(Role::Read, "broken"), Err("broken".to_owned()));
        assert_eq!(table.grant(Role::Read, "odd"), Err("odd".to_owned()));
    }
}
