import type { Test } from 'tap'
import { systemPorts } from '../../src/ports.ts'
import type { ProgramAccountStore } from '../../storage/port.ts'
import { CqlClient } from '../../storage/scylla/client.ts'
import { CqlProgramAccounts } from '../../storage/scylla/program-accounts.ts'
import { allOf, FIRST, lookup, NEXT, version } from '../../storage/test/conformance/program-account-index.ts'
import type { ScyllaUnderTest } from './scylla-keyspace.ts'

const RANGES = [FIRST, NEXT]
const DATA = [
  [1, 0, 0],
  [1, 0, 1],
  [0, 1, 1]
]

/** Wraps a connection whose process dies at a write: neither that write nor a later one takes effect. */
function dying(client: CqlClient): { readonly client: CqlClient; after: number; readonly hasDied: boolean } {
  const state = { after: Infinity, hasDied: false }
  const write: CqlClient['write'] = async (rows) => {
    if (state.after-- > 0) return client.write(rows)
    state.hasDied = true
    throw new Error('the process is killed')
  }
  const wrapped = new Proxy(client, {
    get(target, name) {
      const member: unknown = name === 'write' ? write : Reflect.get(target, name)
      return typeof member === 'function' ? (member as () => unknown).bind(target) : member
    }
  })
  return Object.assign(state, { client: wrapped })
}

/** Compares an index on a CQL server with a scan after a crash at any write of versions and entries. */
export async function testIndexCrashes(t: Test, under: ScyllaUnderTest): Promise<void> {
  await under.clear()
  const client = await CqlClient.connect(under.options, under.options.keyspace, systemPorts)
  t.teardown(() => client.close())
  const store = new CqlProgramAccounts(client)
  const older = DATA.map((data, n) => version(n, 1, data))
  const newer = DATA.toReversed().map((data, n) => version(n, 2, data))
  const works: readonly {
    readonly name: string
    readonly slots: readonly number[]
    readonly run: (store: ProgramAccountStore, program: Uint8Array) => Promise<void>
  }[] = [
    { name: 'put', slots: [1, 2], run: async (store, program) => store.put(program, newer, RANGES) },
    // Versions are dropped once no reader requests their slot.
    { name: 'drop', slots: [2], run: async (store, program) => store.drop(program, older, RANGES) }
  ]
  let programs = 0
  for (const { name, slots, run } of works)
    for (let after = 0, isOver = false; !isOver; after++) {
      const program = new Uint8Array(32).fill(++programs)
      await store.put(program, name === 'drop' ? [...older, ...newer] : older, RANGES)
      const mortal = dying(client)
      mortal.after = after
      await run(new CqlProgramAccounts(mortal.client), program).catch(() => undefined)
      isOver = !mortal.hasDied
      for (const slot of slots)
        for (const lookups of [
          [lookup(FIRST, 0)],
          [lookup(FIRST, 1)],
          [lookup(NEXT, 0, 0)],
          [lookup(NEXT, 0, 1)],
          [lookup(NEXT, 1, 1)]
        ]) {
          const paging = { slot, limit: 10, examined: 1_000 }
          const found = await allOf(store, lookups, paging, true, program)
          const expected = await allOf(store, lookups, paging, false, program)
          t.strictSame(found, expected, `${name} killed at write ${after}, slot ${slot}`)
        }
    }
  t.ok(programs > 10, `${programs} kill points`)
}
