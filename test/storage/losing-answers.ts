import { errors } from 'cassandra-driver'
import type { CqlClient } from '../../storage/scylla/client.ts'
import type { LostAnswers } from '../../storage/test/under-test.ts'

/** Wraps a connection so that it loses answers, and counts the conditional writes. */
export function losingAnswers(
  client: CqlClient,
  { done = [], undone = [], late = [], afterDone }: LostAnswers
): { readonly client: CqlClient; readonly tried: () => number } {
  let tried = 0
  let ahead: (() => Promise<unknown>) | null = null
  const conditional: CqlClient['conditional'] = async (statements) => {
    const n = tried++
    await ahead?.()
    ahead = late.includes(n) ? () => client.conditional(statements) : null
    if (ahead === null && !undone.includes(n)) {
      const answer = await client.conditional(statements)
      if (!done.includes(n)) return answer
      await afterDone?.()
    }
    throw new errors.OperationTimedOutError('no answer, on purpose')
  }
  const lossy = new Proxy(client, {
    get(target, name) {
      const member: unknown = name === 'conditional' ? conditional : Reflect.get(target, name)
      return typeof member === 'function' ? (member as () => unknown).bind(target) : member
    }
  })
  return { client: lossy, tried: () => tried }
}
