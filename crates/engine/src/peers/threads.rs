//! Workers that are threads of one program: for tests, and to see that what is exchanged is right.

use super::{Group, Pending, Worker};
use cleanest_core::methods::Peers;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// So many workers; each is to be given to a thread of its own.
#[must_use]
pub fn together(size: usize) -> Vec<Arc<dyn Group>> {
    let table = Arc::new(Table::default());
    let hosts = vec!["a thread".to_owned(); size];
    let worker = |rank| {
        let worker = Worker::new(rank, hosts.clone());
        Arc::new(Threads { worker, table: Arc::clone(&table), begun: Mutex::new(0) }) as Arc<dyn Group>
    };
    (0..size).map(worker).collect()
}

/// What lies on the table, exchange by exchange: the bytes of each worker, and how many have taken them all.
#[derive(Debug, Default)]
struct Table {
    places: Mutex<Vec<Place>>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct Place {
    bytes: Vec<Option<Vec<u8>>>,
    taken: usize,
}

#[derive(Debug)]
struct Threads {
    worker: Worker,
    table: Arc<Table>,
    /// Exchanges this worker has begun.
    begun: Mutex<usize>,
}

impl Threads {
    /// Puts bytes down; what comes back waits for those of all.
    fn put(&self, bytes: Vec<u8>) -> impl FnOnce() -> Vec<Vec<u8>> + Send + 'static {
        let (rank, size) = (self.worker.rank, self.worker.size());
        let mut begun = self.begun.lock().unwrap_or_else(PoisonError::into_inner);
        let at = *begun;
        *begun += 1;
        let table = Arc::clone(&self.table);
        let mut places = table.lock();
        let length = places.len().max(at + 1);
        places.resize_with(length, Place::default);
        places[at].bytes.resize(size, None);
        places[at].bytes[rank] = Some(bytes);
        table.changed.notify_all();
        drop(places);
        move || {
            let mut places = table.lock();
            while places[at].bytes.iter().any(Option::is_none) {
                places = table.changed.wait(places).unwrap_or_else(PoisonError::into_inner);
            }
            let all = places[at].bytes.iter().flatten().cloned().collect();
            places[at].taken += 1;
            if places[at].taken == size {
                places[at].bytes = vec![Some(Vec::new()); size];
            }
            all
        }
    }
}

impl Table {
    fn lock(&self) -> MutexGuard<'_, Vec<Place>> {
        self.places.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Peers for Threads {
    fn sum(&self, numbers: &mut [f64]) {
        let all = self.put(numbers.iter().flat_map(|number| number.to_le_bytes()).collect())();
        numbers.fill(0.0);
        for bytes in all {
            let terms =
                bytes.chunks_exact(8).map(|bytes| f64::from_le_bytes(bytes.try_into().unwrap_or_default()));
            numbers.iter_mut().zip(terms).for_each(|(number, term)| *number += term);
        }
    }
}

impl Group for Threads {
    fn worker(&self) -> &Worker {
        &self.worker
    }

    fn round(&self, mine: &[u8], _lengths: &[usize]) -> Vec<u8> {
        self.put(mine.to_vec())().concat()
    }

    fn begin(&self, numbers: Vec<f32>) -> Pending {
        let all = self.put(numbers.iter().flat_map(|number| number.to_le_bytes()).collect());
        Pending::new(move || {
            let mut sum = vec![0.0; numbers.len()];
            for bytes in all() {
                let terms = bytes
                    .chunks_exact(4)
                    .map(|bytes| f32::from_le_bytes(bytes.try_into().unwrap_or_default()));
                sum.iter_mut().zip(terms).for_each(|(sum, term)| *sum += term);
            }
            sum
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everybody_sees_the_same() {
        let groups = together(3);
        std::thread::scope(|scope| {
            for group in &groups {
                scope.spawn(move || {
                    let rank = group.rank();
                    let first = group.begin(vec![rank as f32, 1.0]);
                    let mut sums = [rank as f64];
                    group.sum(&mut sums);
                    assert_eq!(sums, [3.0]);
                    assert_eq!(group.gather(&vec![rank as u8; rank]), [vec![], vec![1], vec![2, 2]]);
                    assert_eq!(group.of_first(vec![rank as u8 + 7]), [7]);
                    assert_eq!(first.wait(), [3.0, 3.0]);
                });
            }
        });
    }
}
