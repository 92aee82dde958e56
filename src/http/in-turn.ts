import type { FastifyInstance, FastifyReply } from 'fastify'
import { ServiceError } from '../errors.ts'

/**
 * Makes an answer when it is the tenant's turn; answers of open scope, such as health, take none. A client that leaves takes
 * its place in the queue with it.
 */
export async function inTurn<T>(
  { turns }: Pick<FastifyInstance, 'turns'>,
  { takesTurn }: { readonly takesTurn: boolean },
  { request: { caller }, raw }: Pick<FastifyReply, 'request' | 'raw'>,
  make: () => Promise<T>
): Promise<T> {
  if (caller === null || !takesTurn) return make()
  if (turns.isFree(caller.tenant)) return turns.run(caller.tenant, make)
  return whileClientWaits({ raw }, (left) => turns.run(caller.tenant, make, { signal: left }))
}

/** Runs work with a signal that aborts when the client leaves. */
export async function whileClientWaits<T>(
  { raw }: Pick<FastifyReply, 'raw'>,
  work: (left: AbortSignal) => Promise<T>
): Promise<T> {
  const left = new AbortController()
  const leave = (): void => left.abort(new ServiceError('DEADLINE_EXCEEDED', 'the client has left'))
  if (raw.destroyed) leave()
  raw.once('close', leave)
  try {
    return await work(left.signal)
  } finally {
    raw.off('close', leave)
  }
}
