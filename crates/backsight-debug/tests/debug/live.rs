//! Real debuggers on small programs that do the same in each language, and the same table of expectations for all of them.

mod by_pid;
mod children;
mod conditions;
mod described;
mod doors;
mod endless;
mod expectations;
mod facade;
mod facade_points;
mod facade_seed;
mod facade_steps;
mod fifty;
mod go;
mod javascript;
mod law;
mod native;
mod own_names;
mod pages;
mod programs_people_have;
mod python;
mod quiet;
mod ruby;
mod started;
mod subject;
mod until;
mod whole;
