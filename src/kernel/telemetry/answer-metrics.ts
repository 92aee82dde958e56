import { Counter, Gauge, type Registry } from 'prom-client'
import { answerMemory } from '../memory/answer-memory.ts'

/** Registers the metrics of nodes' answers in memory. */
export function answerMetrics(registry: Registry): void {
  const registers = [registry]
  new Gauge({
    name: 'millrace_node_answer_bytes',
    help: 'Unpacked bytes of the answers of all nodes that are in memory while they arrive, and their limit',
    labelNames: ['what'],
    registers,
    collect() {
      this.set({ what: 'in_flight' }, answerMemory.bytes)
      this.set({ what: 'limit' }, answerMemory.bytesMax)
    }
  })
  new Counter({
    name: 'millrace_node_answers_refused_total',
    help: 'Answers of nodes that were refused because all answers together had more bytes than the limit',
    registers,
    collect() {
      this.reset()
      this.inc(answerMemory.refused)
    }
  })
}
