import type { FastifyInstance, FastifyReply } from 'fastify'
import { ServiceError } from '../errors.ts'
import { openSlices, slicesInTurns, slicesOfTurn, type Slices } from '../work/slices.ts'
import type { TurnHandle } from '../work/turns.ts'

/** Returns the slices in which an answer is made, until the signal aborts. */
export type SlicesOf = (signal: AbortSignal) => Slices

/** The slices of an answer of open scope. */
export const OPEN: SlicesOf = () => openSlices

/**
 * Makes an answer when it is the tenant's turn; answers of open scope, such as health, take no turn. A client that leaves
 * loses its place in the queue; `left` is the signal for that, if one exists already. Each slice after the first takes
 * another turn, even if the answer takes none. Rejects with CONNECTIONS_EXCEEDED while the tenant's clients have too much
 * unread data.
 */
export async function inTurn<T>(
  app: Pick<FastifyInstance, 'turns' | 'unreadAnswers'>,
  { takesTurn }: { readonly takesTurn: boolean },
  reply: Pick<FastifyReply, 'request' | 'raw'>,
  make: (slicesOf: SlicesOf) => Promise<T>,
  left?: AbortSignal
): Promise<T> {
  const { turns, unreadAnswers } = app
  const { request, raw } = reply
  const { caller } = request
  if (caller === null || !takesTurn) return make(slicesWithoutTurn(app, request))
  unreadAnswers.admit(caller.tenant)
  unreadAnswers.follow(caller.tenant, raw)
  const begin = (turn: TurnHandle): Promise<T> => make((signal) => slicesOfTurn(turn, signal))
  const run = (signal: AbortSignal): Promise<T> => turns.run(caller.tenant, begin, { signal })
  if (left !== undefined) return run(left)
  return turns.isFree(caller.tenant) ? turns.run(caller.tenant, begin) : whileClientWaits({ raw }, run)
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

/** Returns the slices of an answer that has no turn, such as one that waits for a node. */
export function slicesWithoutTurn(
  { turns }: Pick<FastifyInstance, 'turns'>,
  { caller }: Pick<FastifyReply['request'], 'caller'>
): SlicesOf {
  if (caller === null) return OPEN
  return (signal) => slicesInTurns((slice) => turns.run(caller.tenant, slice, { signal }))
}
