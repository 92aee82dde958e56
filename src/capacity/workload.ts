import { INPUT_NAMES, INPUTS, PLAN_SOURCES, PLAN_STORES, type InputName } from './inputs.ts'

/** A service's work, and where it runs. */
export interface Workload extends Readonly<Record<InputName, number>> {
  readonly source: (typeof PLAN_SOURCES)[number]
  readonly storage: (typeof PLAN_STORES)[number]
}

export type WorkloadReading =
  | { readonly ok: true; readonly workload: Workload }
  | { readonly ok: false; readonly problems: readonly string[] }

/** Reads a workload from the texts of flags. Every problem names its flag. */
export function readWorkload(flags: Readonly<Record<string, unknown>>): WorkloadReading {
  const problems: string[] = []
  const numberOf = (name: InputName): number => {
    const { fallback, min, max } = INPUTS[name]
    const text = flags[name]
    if (text === undefined) return fallback
    const number = typeof text === 'string' && /^\d+(\.\d+)?$/.test(text) ? Number(text) : NaN
    if (number >= min && number <= max) return number
    problems.push(`--${name} takes a number from ${min} to ${max}, not ${JSON.stringify(text)}`)
    return fallback
  }
  const choiceOf = <T extends string>(name: string, choices: readonly [T, ...T[]]): T => {
    const text = flags[name]
    const choice = choices.find((each) => each === text)
    if (choice === undefined && text !== undefined)
      problems.push(`--${name} takes ${choices.join(' or ')}, not ${JSON.stringify(text)}`)
    return choice ?? choices[0]
  }
  const numbers = Object.fromEntries(INPUT_NAMES.map((name) => [name, numberOf(name)]))
  const workload = {
    ...(numbers as Readonly<Record<InputName, number>>),
    source: choiceOf('source', PLAN_SOURCES),
    storage: choiceOf('storage', PLAN_STORES)
  }
  return problems.length > 0 ? { ok: false, problems } : { ok: true, workload }
}
