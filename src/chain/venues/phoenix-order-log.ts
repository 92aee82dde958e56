import type { Invocation } from '../invocation.ts'
import { LayoutTable, type Layout } from '../layout.ts'
import { EVENTS, fill, fillSummary, header, place } from './phoenix-layouts.ts'

type EventOf<L> = L extends Layout<infer T> ? T : never

export type Summary = EventOf<typeof fillSummary>

/** The results of an order, in lots of its market. */
export interface OrderLog {
  readonly fills: readonly EventOf<typeof fill>[]
  readonly places: readonly EventOf<typeof place>[]
  /** Null for an order that cannot take. */
  readonly summary: Summary | null
  /** False after an unknown event: the events behind it cannot be read. */
  readonly complete: boolean
}

const LAYOUTS: LayoutTable<Layout<unknown>> = new LayoutTable(EVENTS)

/** Reads the batches that a call logged, in order; null if the call logged no batch. */
export function readOrderLog(call: Invocation): OrderLog | null {
  const fills: EventOf<typeof fill>[] = []
  const places: EventOf<typeof place>[] = []
  let summary: Summary | null = null
  let complete = true
  let batches = 0
  for (const { bytes } of call.stated) {
    const head = bytes[0] === header.discriminator[0] ? header.read(bytes, 1) : null
    if (head === null) {
      complete = false
      continue
    }
    batches++
    let at = bytes.length - head.drift
    for (let event = 0; event < head.value.events; event++) {
      const layout = LAYOUTS.find(bytes, at)
      const reading = layout?.read(bytes, at + 1) ?? null
      if (reading === null) {
        call.noteMisfit('batch of events', bytes.length - at)
        complete = false
        break
      }
      if (layout === fill) fills.push(reading.value as EventOf<typeof fill>)
      if (layout === place) places.push(reading.value as EventOf<typeof place>)
      if (layout === fillSummary) summary = reading.value as Summary
      at = bytes.length - reading.drift
    }
  }
  return batches === 0 ? null : { fills, places, summary, complete }
}
