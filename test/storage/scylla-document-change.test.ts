import { errors } from 'cassandra-driver'
import t from 'tap'
import { ServiceError, UnknownOutcome } from '../../src/kernel/errors.ts'
import type { CqlClient } from '../../storage/scylla/client.ts'
import { DocumentChange } from '../../storage/scylla/document-change.ts'

const ADDRESS = { kind: 'note', partition: 'notes', key: Uint8Array.of(1) }
const HEADER = {
  address: ADDRESS,
  version: 'a'.repeat(32),
  born: 'a'.repeat(32),
  trail: [],
  expiresAtMs: null,
  entries: [],
  unique: []
}
const ROW = { ...HEADER, value: '{}', ttlMs: null, isScratch: false }

/** Returns a change in a cluster whose conditional writes fail with an error, and whose reads get no answer. */
function changeWith(error: unknown): DocumentChange {
  const unanswered = async (): Promise<never> => {
    throw new ServiceError('STORAGE_UNAVAILABLE', 'the store does not answer')
  }
  const client = new Proxy<Record<string, unknown>>(
    {
      now: () => 1,
      conditional: async () => {
        throw error
      }
    },
    { get: (target, name: string) => target[name] ?? unanswered }
  )
  return new DocumentChange(client as unknown as CqlClient, ADDRESS, () => true)
}

for (const [name, run] of [
  ['write', (change: DocumentChange): Promise<unknown> => change.put(ROW, null)],
  ['deletion', (change: DocumentChange): Promise<unknown> => change.delete(HEADER)]
] as const) {
  t.test(
    `a ${name} whose answer is lost stays unknown if the read that looks for it fails too`,
    async (t) => {
      const lost = new errors.OperationTimedOutError('the server did not answer in time', '127.0.0.1')
      const fault: unknown = await run(changeWith(lost)).catch((error: unknown) => error)
      t.ok(fault instanceof UnknownOutcome, String(fault))
      t.match(fault, { cause: lost })
    }
  )

  t.test(`a ${name} that the server refuses is not done`, async (t) => {
    const fault: unknown = await run(changeWith(new Error('syntax error'))).catch((error: unknown) => error)
    t.match(fault, { code: 'STORAGE_UNAVAILABLE', detail: /refuses/ })
    t.notOk(fault instanceof UnknownOutcome)
  })
}
