import PQueue from 'p-queue'
import { ServiceError } from '../../src/errors.ts'
import type { CqlClient, CqlRow, CqlStatement } from './client.ts'
import { isOutage, refused } from './errors.ts'

/** Changes that wait at most; further ones are refused. Operators make a few an hour. */
const WAITING_MAX = 1_000

/** Changes beside the chain: one after the other in this process, against those of others by conditions. */
export class ConditionalWrites {
  readonly #client: CqlClient
  readonly #queue = new PQueue({ concurrency: 1 })

  constructor(client: CqlClient) {
    this.#client = client
  }

  /** Runs a change after those before it. */
  async run<T>(change: () => Promise<T>): Promise<T> {
    this.#client.assertOpen()
    if (this.#queue.size >= WAITING_MAX)
      throw new ServiceError('STORAGE_UNAVAILABLE', `${WAITING_MAX} changes of keys and tenants wait`)
    return this.#queue.add(change)
  }

  /** Resolves once every change that was accepted has ended. */
  idle(): Promise<void> {
    return this.#queue.onIdle()
  }
}

/** Reads what conditional writes have left, and finishes those under way. It is not refused while closing. */
export async function readSettled(client: CqlClient, statement: CqlStatement): Promise<CqlRow[]> {
  try {
    return await client.trySerial(statement)
  } catch (error) {
    if (!isOutage(error)) throw refused(error)
    return client.readSerial(statement)
  }
}
