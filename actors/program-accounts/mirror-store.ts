import type { Pubkey } from '../../src/chain/pubkey.ts'
import type { ProgramAccount } from '../../storage/port.ts'

/** A failure of the store, not of a node. */
export class StoreError extends Error {}

/** Marks failures of a call of the store. */
export async function stored<T>(answer: Promise<T>): Promise<T> {
  return answer.catch((cause: unknown) => {
    throw new StoreError('the store failed', { cause })
  })
}

/** Marks failures of a list of the store. */
export async function* storedEach<T>(list: AsyncIterable<T>): AsyncGenerator<T> {
  try {
    yield* list
  } catch (cause) {
    throw new StoreError('the store failed', { cause })
  }
}

/** Returns an address as the key of a map. */
export const keyOf = (address: Pubkey): string => Buffer.from(address).toString('latin1')

/** Tells whether two states of an account are equal; null stands for no account. */
export function isSame(a: ProgramAccount | null, b: ProgramAccount | null): boolean {
  if (a === null || b === null) return a === b
  return (
    a.lamports === b.lamports &&
    a.executable === b.executable &&
    a.rentEpoch === b.rentEpoch &&
    Buffer.compare(a.data, b.data) === 0
  )
}
