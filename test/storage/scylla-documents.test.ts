import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { isDeepStrictEqual } from 'node:util'
import t from 'tap'
import { Documents } from '../../storage/documents.ts'
import { documentConformance } from '../../storage/test/conformance.ts'
import { Choices } from '../../storage/test/choices.ts'
import { PARCEL, valuesOf } from '../../storage/test/sample-documents.ts'
import { testWithCql } from '../servers/cql.ts'
import { ScyllaUnderTest } from './scylla-keyspace.ts'

const KILLS = 6

testWithCql(t, 'documents on a CQL server', async (t, server) => {
  const under = await ScyllaUnderTest.make(server)
  t.teardown(() => under.end())
  documentConformance(t, (t) => under.open(t), 10)

  t.test(
    'of a process that is killed at any instant every document has all of its entries, or none',
    async (t) => {
      const { storage } = await under.open(t)
      const parcels = new Documents(storage.documents, PARCEL)
      const choices = new Choices(5)
      const script = join(import.meta.dirname, 'scylla-document-child.ts')
      const listed = async () => valuesOf((await parcels.list('ann', { limit: 100 })).documents)
      const findBy = async (label: string) => (await parcels.findBy('label', 'ann', [label]))?.value
      /** Reads again where a change that was under way at the kill has been made between the reads. */
      const readAtRest = async () => {
        for (;;) {
          const all = await listed()
          const due = valuesOf(await parcels.due('due', 'ann', 1e9, 100))
          const found = []
          for (const { id, weight, label } of all)
            found.push([await findBy(label!), await findBy(`${id} ${weight - 1n}`)])
          if (isDeepStrictEqual(await listed(), all)) return { all, due, found }
        }
      }
      for (let kill = 0; kill < KILLS; kill++) {
        const child = spawn(process.execPath, [script, JSON.stringify(under.options)], {
          stdio: ['ignore', 'pipe', 'inherit']
        })
        const exit = once(child, 'exit')
        const answered = new Map<number, bigint>()
        const lines = 10 + choices.below(20)
        let said = 0
        for await (const line of createInterface({ input: child.stdout })) {
          const [id, weight] = line.split(' ')
          answered.set(Number(id), BigInt(weight!))
          if (++said === lines) setTimeout(() => child.kill('SIGKILL'), choices.fraction() * 20)
        }
        t.strictSame(await exit, [null, 'SIGKILL'])
        const { all, due, found } = await readAtRest()
        const byId = <T extends { id: string | number }>(values: readonly T[]): T[] =>
          values.toSorted((a, b) => Number(a.id) - Number(b.id))
        t.strictSame(byId(due), all, 'the index has each of them once, as it is')
        t.strictSame(
          found,
          all.map((value) => [value, undefined]),
          'by its unique value, of which an earlier one is free'
        )
        // The change under way when it died may have been made, or a deletion without its insertion.
        for (const [id, weight] of answered) {
          const stored = all.find((value) => value.id === id)
          t.ok(
            stored === undefined
              ? weight % 7n === 6n
              : stored.weight - weight <= 1n && stored.weight >= weight
          )
        }
      }
    }
  )
})
