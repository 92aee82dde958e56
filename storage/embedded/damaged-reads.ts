import { ERRORS, ServiceError } from '../../src/kernel/errors.ts'
import { keyAfter, type Key, type KeyRange } from '../codec/keys.ts'
import { damageText, type DamagedRange } from './damaged-keys.ts'

/** The engine's code for a file that makes no sense; its message names the file. */
export const CORRUPTION = 'LEVEL_CORRUPTION'

/** The kind of a record, as errors name it. */
export interface Named {
  readonly name: string
}

export const KEY: Named = { name: 'a key' }

/** The part of a range up to the last key read; the whole range if there was no further key. */
export function passed({ gte, lt }: KeyRange, last: Key | undefined, reverse: boolean): KeyRange {
  if (last === undefined) return { gte, lt }
  return reverse ? { gte: last, lt } : { gte, lt: keyAfter(last) }
}

/** Returns the error of a read of damaged keys. */
export function damaged(kind: Named, range: DamagedRange): ServiceError {
  const what = `${kind.name} cannot be read: ${damageText(range)}`
  return new ServiceError(
    ERRORS.STORAGE_UNAVAILABLE,
    `${what}; stop the service and run \`npx millrace repair\``
  )
}
