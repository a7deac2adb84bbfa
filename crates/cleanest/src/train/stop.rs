//! Ctrl-C and the like: the run ends after the step it is in, with a checkpoint.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Whether somebody asked to stop, and with which signal.
#[derive(Clone, Debug, Default)]
pub struct Stop {
    signal: Arc<AtomicUsize>,
}

impl Stop {
    /// Listens for SIGINT and SIGTERM. A second one ends the program at once.
    pub fn on_signals() -> std::io::Result<Self> {
        let stop = Self::default();
        for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM] {
            let asked = Arc::new(std::sync::atomic::AtomicBool::new(false));
            signal_hook::flag::register_conditional_shutdown(signal, 128 + signal, Arc::clone(&asked))?;
            signal_hook::flag::register(signal, asked)?;
            signal_hook::flag::register_usize(signal, Arc::clone(&stop.signal), signal as usize)?;
        }
        Ok(stop)
    }

    /// Asks to stop as this signal would.
    pub fn ask(&self, signal: i32) {
        self.signal.store(signal.unsigned_abs() as usize, Ordering::Relaxed);
    }

    /// The signal that asked to stop, if one did.
    #[must_use]
    pub fn signal(&self) -> Option<i32> {
        let signal = self.signal.load(Ordering::Relaxed);
        if signal == 0 { None } else { Some(signal as i32) }
    }
}
