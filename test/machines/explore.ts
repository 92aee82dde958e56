import { createActor, fromCallback, getNextTransitions } from 'xstate'
import type { AnyMachineSnapshot } from 'xstate'
import type { Host } from '../../machines/unit.ts'

/** A host that hears everything and does nothing. */
export function deafHost(): Host {
  return createActor(fromCallback(() => {}))
}

/** The event a machine in this state gets when a named delay is over; throws when it waits for no such delay. */
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

/** A state's name from the inside, like `serving.open.fresh`. */
export function stateName(value: unknown): string {
  if (typeof value === 'string') return value
  const [[outer, inner]] = Object.entries(value as Record<string, unknown>) as [[string, unknown]]
  return `${outer}.${stateName(inner)}`
}
