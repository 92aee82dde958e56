import { createActor, fromCallback, getNextTransitions } from 'xstate'
import type { AnyMachineSnapshot } from 'xstate'
import type { Host } from '../../machines/unit.ts'

/** A host that ignores every event. */
export function deafHost(): Host {
  return createActor(fromCallback(() => {}))
}

/** Returns the event for the end of a named delay. Throws if the machine does not wait for such a delay. */
export function elapsed(snapshot: AnyMachineSnapshot, delay: string): { type: never } {
  const type = pendingTimers(snapshot).find((timer) => timer.startsWith(`xstate.after.${delay}.`))
  if (type === undefined) throw new Error(`no delay called ${delay} runs`)
  return { type: type as never }
}

export function pendingTimers(snapshot: AnyMachineSnapshot): string[] {
  return getNextTransitions(snapshot)
    .map(({ eventType }) => String(eventType))
    .filter((type) => type.startsWith('xstate.after.'))
}

/** Returns a state's name from the inside out, like `serving.open.fresh`. */
export function stateName(value: unknown): string {
  if (typeof value === 'string') return value
  const [[outer, inner]] = Object.entries(value as Record<string, unknown>) as [[string, unknown]]
  return `${outer}.${stateName(inner)}`
}
