import PQueue from 'p-queue'
import { ServiceError } from '../../src/kernel/errors.ts'
import type { CqlClient, CqlRow, CqlStatement } from './client.ts'
import { isOutage, refused } from './errors.ts'

/** Maximum waiting changes, of one partition and in total: seconds of a busy tenant. Further ones are refused. */
const WAITING_MAX = 1_000
const ALL_WAITING_MAX = 10_000

/**
 * Conditional writes. In this process those of one partition run one after another, because they would only refuse each
 * other. Their conditions order them against those of other processes.
 */
export class ConditionalWrites {
  readonly #client: CqlClient
  readonly #queues = new Map<string, PQueue>()
  #waiting = 0

  constructor(client: CqlClient) {
    this.#client = client
  }

  /** Runs a change of a partition after those before it. */
  async run<T>(partition: string, change: () => Promise<T>): Promise<T> {
    this.#client.assertOpen()
    const queue = this.#queues.get(partition) ?? new PQueue({ concurrency: 1 })
    if (queue.size >= WAITING_MAX || this.#waiting >= ALL_WAITING_MAX)
      throw new ServiceError('STORAGE_UNAVAILABLE', 'too many changes wait for the store')
    this.#queues.set(partition, queue)
    this.#waiting++
    try {
      return await queue.add(change)
    } finally {
      this.#waiting--
      if (queue.size + queue.pending === 0 && this.#queues.get(partition) === queue)
        this.#queues.delete(partition)
    }
  }

  /** Resolves once every change that was accepted has ended. */
  async idle(): Promise<void> {
    await Promise.all(Array.from(this.#queues.values(), (queue) => queue.onIdle()))
  }
}

/** Reads the state after conditional writes, and finishes those under way. It is not refused while closing. */
export async function readSettled(client: CqlClient, statement: CqlStatement): Promise<CqlRow[]> {
  try {
    return await client.trySerial(statement)
  } catch (error) {
    if (!isOutage(error)) throw refused(error)
    return client.readSerial(statement)
  }
}
