import { SimulatedClock } from 'xstate'
import type { Clock } from '../src/ports.ts'

/** A clock that advances only when a test moves it. */
export type VirtualClock = SimulatedClock & Clock

export function virtualClock(): VirtualClock {
  return new SimulatedClock()
}

/** Lets every promise that is ready settle, without moving any clock. */
export async function settle(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve))
}

/** Moves the clock by whole milliseconds, one at a time: one step fires only one timer of a chain. */
export async function advance(clock: VirtualClock, ms: number): Promise<void> {
  await settle()
  for (let elapsed = 0; elapsed < ms; elapsed++) {
    clock.increment(1)
    await settle()
  }
}
