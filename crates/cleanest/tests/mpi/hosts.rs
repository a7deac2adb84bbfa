//! Workers on machines of their own: network namespaces, which share nothing but a cable.

use crate::{WORDS, alone, assert_same, program, stderr};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Command, Output};

/// Two namespaces and a cable between them; removed in the end.
struct Machines {
    names: [String; 2],
}

fn ip(words: &str) -> bool {
    Command::new("ip").args(words.split_whitespace()).output().is_ok_and(|output| output.status.success())
}

impl Machines {
    fn new() -> Option<Self> {
        let process = std::process::id();
        let machines = Self { names: ["a", "b"].map(|name| format!("cleanest-{process}-{name}")) };
        let cable = ["a", "b"].map(|end| format!("cl{process}{end}"));
        let mut made = machines.names.iter().all(|name| ip(&format!("netns add {name}")));
        made &= ip(&format!("link add {} type veth peer name {}", cable[0], cable[1]));
        for (at, (name, end)) in machines.names.iter().zip(&cable).enumerate() {
            made &= ip(&format!("link set {end} netns {name}"))
                && ip(&format!("-n {name} addr add 10.231.0.{}/24 dev {end}", at + 1))
                && ip(&format!("-n {name} link set lo up"))
                && ip(&format!("-n {name} link set {end} up"));
        }
        made.then_some(machines)
    }

    /// Runs the program on both machines, with these words on each; what starts it on the second takes the place of ssh.
    fn run(&self, folder: &Path, words: [&str; 2]) -> Output {
        let agent = folder.join("agent");
        let [here, there] = &self.names;
        let script = format!(
            "#!/bin/sh\nshift\nexec ip netns exec {there} unshare --uts sh -c \"hostname machine-b; $*\"\n"
        );
        std::fs::write(&agent, script).unwrap();
        std::fs::set_permissions(&agent, std::fs::Permissions::from_mode(0o755)).unwrap();
        let program = program().display();
        let mpirun = format!(
            "hostname machine-a; exec mpirun --mca plm_rsh_agent {} --mca btl tcp,self \
             --mca btl_tcp_if_include 10.231.0.0/24 --mca oob_tcp_if_include 10.231.0.0/24 \
             --host 10.231.0.1:1 -n 1 {program} {} : --host 10.231.0.2:1 -n 1 {program} {}",
            agent.display(),
            words[0],
            words[1]
        );
        Command::new("ip")
            .args(["netns", "exec", here, "unshare", "--uts", "sh", "-c", &mpirun])
            .env("OMPI_ALLOW_RUN_AS_ROOT", "1")
            .env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1")
            .current_dir(folder)
            .output()
            .unwrap()
    }
}

impl Drop for Machines {
    fn drop(&mut self) {
        for name in &self.names {
            ip(&format!("netns del {name}"));
        }
    }
}

#[test]
fn two_machines_find_what_one_does() {
    let Some(machines) = Machines::new() else {
        eprintln!("SKIPPED: no network namespaces here, so that workers on two machines were not tried");
        assert!(std::env::var_os("CLEANEST_NAMESPACES").is_none(), "they were expected to work");
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    alone(path, &format!("{WORDS} --out one"));
    let words = format!("{WORDS} --out two");
    let output = machines.run(path, [&words, &words]);
    assert!(output.status.success(), "{}", stderr(&output));
    assert_same(&path.join("one"), &path.join("two"));
    let output = machines.run(path, [&words.replace("two", "three"), &words.replace("200", "201")]);
    let said = stderr(&output);
    assert!(said.contains("worker 1 of 2 (machine-b) was asked for `"), "{said}");
}
