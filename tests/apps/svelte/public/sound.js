class Quiet extends AudioWorkletProcessor {
  process() {
    return false;
  }
}
registerProcessor('quiet', Quiet);
