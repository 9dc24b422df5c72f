//! Who calls, and what they may do. Plain data: the socket says who it is, the settings
//! what they may do, the tools what is needed.

use std::fmt;

/// What somebody may do. None includes another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Role {
    /// Hand in frames and captions.
    Observe,
    /// Ask: records, images, notes, states, prompts.
    Read,
    /// Keep and change notes, memos and states; send the robot.
    Write,
    /// Forget and delete.
    Erase,
    /// Look after the daemon itself.
    Admin,
}

impl Role {
    pub const ALL: [Self; 5] = [Self::Observe, Self::Read, Self::Write, Self::Erase, Self::Admin];

    /// As settings and refusals have it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Observe => "observe",
            Self::Read => "read",
            Self::Write => "write",
            Self::Erase => "erase",
            Self::Admin => "admin",
        }
    }
}

/// A set of roles.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Roles(u8);

impl Roles {
    pub const NONE: Self = Self(0);
    pub const ALL: Self = Self::of(&Role::ALL);

    pub const fn of(roles: &[Role]) -> Self {
        let mut bits = 0;
        let mut rest = roles;
        while let [role, others @ ..] = rest {
            bits |= 1 << *role as u8;
            rest = others;
        }
        Self(bits)
    }

    pub fn is_empty(self) -> bool {
        self == Self::NONE
    }

    /// Whether one of them is among `others`.
    pub fn meet(self, others: Self) -> bool {
        self.0 & others.0 != 0
    }

    #[must_use]
    pub fn and(self, others: Self) -> Self {
        Self(self.0 | others.0)
    }
}

impl fmt::Display for Roles {
    /// `observe, read`
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = Role::ALL
            .into_iter()
            .filter(|role| self.meet(Self::of(&[*role])))
            .map(Role::name)
            .collect();
        f.write_str(&names.join(", "))
    }
}

/// Who makes a call, as the kernel says it of the other end of the socket.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Caller {
    pub uid: u32,
    /// Name of the user, where it is known; else the number.
    pub user: String,
    pub pid: Option<u32>,
    pub roles: Roles,
    /// Whether it is the daemon's own user.
    pub is_own: bool,
}

impl Caller {
    /// The daemon itself, and what it does on its own account.
    pub fn daemon() -> Self {
        Self { user: "(the daemon)".to_owned(), ..Self::this_process() }
    }

    /// The user who runs a command beside it.
    pub fn this_process() -> Self {
        let uid = rustix::process::getuid().as_raw();
        let pid = Some(std::process::id());
        Self { uid, user: uid.to_string(), pid, roles: Roles::ALL, is_own: true }
    }
}

impl fmt::Display for Caller {
    /// `anna (uid 1001, process 4242)`
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (uid {}", self.user, self.uid)?;
        match self.pid {
            Some(pid) => write!(f, ", process {pid})"),
            None => f.write_str(")"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roles_are_sets_of_which_none_includes_another() {
        for (at, role) in Role::ALL.into_iter().enumerate() {
            let only = Roles::of(&[role]);
            assert!(only.meet(Roles::ALL) && !only.is_empty());
            for (other_at, other) in Role::ALL.into_iter().enumerate() {
                assert_eq!(only.meet(Roles::of(&[other])), at == other_at);
            }
        }
        assert!(!Roles::NONE.meet(Roles::ALL) && Roles::NONE.is_empty());
        let two = Roles::of(&[Role::Erase]).and(Roles::of(&[Role::Read]));
        assert_eq!(two.to_string(), "read, erase");
        assert_eq!(Roles::ALL.to_string(), "observe, read, write, erase, admin");
    }
}
