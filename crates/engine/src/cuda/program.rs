//! Commands bound to a GPU: run one by one the first time, and as a graph ever after.

use std::rc::Rc;

use cudarc::driver::{CudaEvent, CudaGraph, sys};

use super::{
    command::{Argument, Command, Commands, Convolve, Direction, Exchange, Launch, Multiply, arguments},
    convolve::Plan,
    descriptor::Descriptor,
    gpu::driver,
    kernel::{Kernel, Walk},
    layout::Place,
    plans::Plans,
    queue::Queue,
};
use crate::Error;

/// The variable that asks for a profile on stderr: what each step takes by itself, each graph, and each plan that is tried.
pub(super) const PROFILE: &str = "CLEANEST_GPU_PROFILE";
/// Runs a step is timed over.
const PROFILED: usize = 10;

/// A command that is ready to run.
enum Step {
    Launch(Launch),
    Multiply(Multiply),
    Convolve {
        plan: Rc<Plan>,
        tensors: Descriptor,
    },
    /// A convolution that runs beside the others, and the gradient it reads: nobody may write there before it is done.
    Beside {
        plan: Rc<Plan>,
        tensors: Descriptor,
        reads: Place,
    },
}

/// A step, the gradient it writes, and what it is called in a profile.
struct Named {
    step: Step,
    writes: Option<Place>,
    name: String,
}

/// Commands bound to a GPU, cut where workers have to agree before it goes on.
#[derive(Default)]
pub(super) struct Program {
    stretches: Vec<Stretch>,
}

/// Commands between two exchanges.
#[derive(Default)]
struct Stretch {
    steps: Vec<Named>,
    runs: usize,
    graph: Option<CudaGraph>,
    /// What is exchanged after it.
    exchange: Option<Exchange>,
}

impl Program {
    /// Chooses a plan for every convolution.
    pub(super) fn new(commands: Commands, queue: &Queue, plans: &mut Plans) -> Result<Self, Error> {
        let _alone = queue.gpu.prepare();
        let mut stretches = Vec::new();
        let mut now = Stretch::default();
        for command in commands.list {
            let (writes, name) = (written(&command), name_of(&command));
            let bound = match command {
                Command::Launch(launch) => vec![Step::Launch(launch)],
                Command::Multiply(multiply) => vec![Step::Multiply(multiply)],
                Command::Convolve(convolve) => bound(&convolve, queue, plans)?,
                Command::Exchange(exchange) => {
                    now.exchange = Some(exchange);
                    stretches.push(std::mem::take(&mut now));
                    continue;
                }
            };
            now.steps.extend(bound.into_iter().map(|step| Named { step, writes, name: name.clone() }));
        }
        stretches.push(now);
        Ok(Self { stretches })
    }

    /// Runs everything in order.
    pub(super) fn run(
        &mut self,
        queue: &Queue,
        exchange: impl Fn(Exchange) -> Result<(), Error>,
    ) -> Result<(), Error> {
        for stretch in &mut self.stretches {
            stretch.run(queue)?;
            // Others of this program may have to prepare something before they come so far: no lock is held here.
            stretch.exchange.map_or(Ok(()), &exchange)?;
        }
        Ok(())
    }
}

impl Stretch {
    /// Runs everything in order. What a library prepares on its first call cannot be captured, so the first run is plain;
    /// the second is captured, and replayed from then on.
    fn run(&mut self, queue: &Queue) -> Result<(), Error> {
        self.runs += 1;
        if self.runs == 1 {
            let _alone = queue.gpu.prepare();
            self.issue(queue)?;
            return if std::env::var_os(PROFILE).is_some() { self.profile(queue) } else { Ok(()) };
        }
        if self.graph.is_none() {
            let _alone = queue.gpu.prepare();
            let graph = self.capture(queue)?;
            if std::env::var_os(PROFILE).is_some() {
                let launch = || graph.launch().map_err(driver("running a graph"));
                eprintln!(
                    "profile {:.4} ms  the graph of {} steps",
                    queue.time(PROFILED, launch)?,
                    self.steps.len()
                );
            }
            self.graph = Some(graph);
        }
        self.graph.as_ref().map_or(Ok(()), |graph| graph.launch().map_err(driver("running a graph")))
    }

    fn capture(&self, queue: &Queue) -> Result<CudaGraph, Error> {
        let mode = sys::CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL;
        queue.stream.begin_capture(mode).map_err(driver("capturing a graph"))?;
        let issued = self.issue(queue);
        let graph = queue.stream.end_capture(sys::CUgraphInstantiate_flags(0));
        issued?;
        let graph = graph.map_err(driver("capturing a graph"))?;
        graph.ok_or(Error::Cuda { call: "capturing a graph", problem: "nothing was captured".into() })
    }

    /// Says on stderr what each step takes by itself. It runs them again and again, so what is trained is spoilt.
    fn profile(&self, queue: &Queue) -> Result<(), Error> {
        for Named { step, name, .. } in &self.steps {
            let time = queue.time(PROFILED, || step.issue(queue))?;
            eprintln!("profile {time:.4} ms  {name}");
        }
        Ok(())
    }

    fn issue(&self, queue: &Queue) -> Result<(), Error> {
        let mut running: Vec<(Place, CudaEvent)> = Vec::new();
        let meet = |event: &CudaEvent| queue.stream.wait(event).map_err(driver("waiting beside"));
        for Named { step, writes, .. } in &self.steps {
            for (_, event) in running.extract_if(.., |(reads, _)| Some(*reads) == *writes) {
                meet(&event)?;
            }
            if let Step::Beside { reads, .. } = step {
                let ready = queue.stream.record_event(None).map_err(driver("recording an event"))?;
                queue.beside.wait(&ready).map_err(driver("waiting beside"))?;
                queue.direct(&queue.beside)?;
                let executed = step.issue(queue);
                queue.direct(&queue.stream)?;
                executed?;
                running
                    .push((*reads, queue.beside.record_event(None).map_err(driver("recording an event"))?));
            } else {
                step.issue(queue)?;
            }
        }
        // They ran in order: the last is done when all are.
        running.last().map_or(Ok(()), |(_, event)| meet(event))
    }
}

impl Step {
    fn issue(&self, queue: &Queue) -> Result<(), Error> {
        match self {
            Self::Launch(launch) => queue.launch(launch),
            Self::Multiply(multiply) => queue.multiply(multiply),
            Self::Convolve { plan, tensors } | Self::Beside { plan, tensors, .. } => {
                queue.execute(&plan.descriptor, tensors)
            }
        }
    }
}

/// The steps of a convolution: with bias two, where cuDNN has no plan that does both.
fn bound(convolve: &Convolve, queue: &Queue, plans: &mut Plans) -> Result<Vec<Step>, Error> {
    let missing = || Error::Cuda {
        call: "choosing a plan",
        problem: format!("cuDNN has none for {:?} of {:?}", convolve.direction, convolve.geometry),
    };
    let beside = convolve.direction == Direction::Filter;
    if let Some((plan, tensors)) = plans.bind(queue, convolve, beside)? {
        let reads = convolve.output;
        return Ok(vec![if beside {
            Step::Beside { plan, tensors, reads }
        } else {
            Step::Convolve { plan, tensors }
        }]);
    }
    let (Direction::Biased { relu }, Some(bias)) = (convolve.direction, convolve.bias) else {
        return Err(missing());
    };
    let plain = Convolve { direction: Direction::Forward, bias: None, ..*convolve };
    let (plan, tensors) = plans.bind(queue, &plain, false)?.ok_or_else(missing)?;
    let (height, width) = convolve.geometry.output();
    let (rows, channels) = (convolve.geometry.batch * height * width, convolve.geometry.outputs);
    let walk = Walk::new(rows, channels);
    let least = if relu { 0.0 } else { f32::NEG_INFINITY };
    let arguments: &[Argument] = arguments![convolve.output, bias, rows, channels, walk.lanes, least];
    let launch = Launch { kernel: Kernel::BiasAdd, grid: walk.passing(), arguments: arguments.to_vec() };
    Ok(vec![Step::Convolve { plan, tensors }, Step::Launch(launch)])
}

/// What a command is called in a profile.
fn name_of(command: &Command) -> String {
    match command {
        Command::Launch(launch) => launch.kernel.name().to_owned(),
        Command::Multiply(multiply) => format!("product {:?}", multiply.size),
        Command::Convolve(convolve) => convolve.to_string(),
        Command::Exchange(exchange) => format!("a sum of {} numbers over the workers", exchange.count),
    }
}

/// The gradient a command of the backward pass writes, which may be one that a convolution beside still reads.
fn written(command: &Command) -> Option<Place> {
    let argument = |launch: &Launch, index: usize| match launch.arguments[index] {
        Argument::At(place) => Some(place),
        _ => None,
    };
    match command {
        Command::Convolve(Convolve { direction: Direction::Data { .. }, input, .. }) => Some(*input),
        Command::Convolve(_) | Command::Exchange(_) => None,
        Command::Multiply(multiply) => Some(multiply.c),
        Command::Launch(launch) => match launch.kernel {
            Kernel::Mask | Kernel::BiasReduce => argument(launch, 0),
            Kernel::Deliver | Kernel::Dropout | Kernel::Pad | Kernel::AveragePoolBackward => {
                argument(launch, 1)
            }
            Kernel::MaxPoolBackward => argument(launch, 2),
            Kernel::NormalizeReduce => argument(launch, 3),
            Kernel::NormalizeSpread => argument(launch, 4),
            _ => None,
        },
    }
}
