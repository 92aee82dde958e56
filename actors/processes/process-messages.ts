import { z } from 'zod'

/** Metrics of one process, as its registry returns them. */
const registryJson = z.array(z.record(z.string(), z.unknown()))
export type RegistryJson = z.output<typeof registryJson>

/** Messages of a child process to its parent. */
export const childMessage = z.discriminatedUnion('millrace', [
  /** It accepts connections at a port. */
  z.object({ millrace: z.literal('listening'), port: z.int().positive() }),
  /** Everything is up for the first time. */
  z.object({ millrace: z.literal('ready') }),
  /** Its event loop runs. */
  z.object({ millrace: z.literal('heartbeat') }),
  /** It ends, because its settings or servers prevent a start; the reason is for the operator. */
  z.object({ millrace: z.literal('refused'), reason: z.string() }),
  /** It wants the metrics of all other processes. */
  z.object({ millrace: z.literal('metrics.wanted'), request: z.int() }),
  /** Its metrics. */
  z.object({ millrace: z.literal('metrics.given'), request: z.int(), metrics: registryJson })
])
export type ChildMessage = z.output<typeof childMessage>

/** Messages of the parent to a child process. */
export const parentMessage = z.discriminatedUnion('millrace', [
  /** It has to finish and end. */
  z.object({ millrace: z.literal('drain') }),
  /** Another process wants its metrics. */
  z.object({ millrace: z.literal('metrics.wanted'), request: z.int() }),
  /** The metrics of all other processes that have answered. */
  z.object({ millrace: z.literal('metrics.collected'), request: z.int(), processes: z.array(registryJson) })
])
export type ParentMessage = z.output<typeof parentMessage>
