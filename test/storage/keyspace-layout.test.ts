import assert from 'node:assert/strict'
import { types, type Host } from 'cassandra-driver'
import t from 'tap'
import {
  CONDITIONAL,
  CONDITIONAL_BATCH,
  LocalNodes,
  PATIENT,
  QUORUM,
  SERIAL
} from '../../storage/scylla/driver.ts'
import { keyspaceStatement, makeKeyspace, type KeyspaceLayout } from '../../storage/scylla/keyspace.ts'
import { speculationChanges } from '../../storage/scylla/speculation.ts'
import { STORAGE_SETTINGS } from '../../src/store/settings.ts'

const CASSANDRA = { product: 'Apache Cassandra', version: '5.0.4' } as const
const scylla = (version: string) => ({ product: 'ScyllaDB', version }) as const
const LAYOUT: KeyspaceLayout = { keyspace: 'shop', datacenter: 'dc1', replication: 3 }
const TWO: KeyspaceLayout = { ...LAYOUT, replication: { dc1: 3, dc2: 2 } }
const START = "CREATE KEYSPACE IF NOT EXISTS shop WITH replication = {'class': 'NetworkTopologyStrategy', "

t.test('a keyspace has its replicas in the local datacenter, or in each that is named', async (t) => {
  t.equal(keyspaceStatement(LAYOUT, CASSANDRA), `${START}'dc1': 3}`)
  t.equal(keyspaceStatement(TWO, CASSANDRA), `${START}'dc1': 3, 'dc2': 2}`)
  assert.throws(() => keyspaceStatement({ ...TWO, datacenter: 'dc3' }, CASSANDRA), {
    detail:
      /MILLRACE_SCYLLA_REPLICATION states no replicas in dc3.*add dc3:3.*MILLRACE_SCYLLA_DATACENTER to one of dc1, dc2/
  })
})

t.test(
  'tablets are off unless asked for, and refused where conditional writes do not work on them',
  async (t) => {
    const asked = { ...LAYOUT, hasTablets: true }
    t.equal(
      keyspaceStatement(LAYOUT, scylla('2026.1.0')),
      `${START}'dc1': 3} AND tablets = {'enabled': false}`
    )
    for (const version of ['2025.4.0', '2025.4.2-20260101', '2026.1.0'])
      t.equal(keyspaceStatement(asked, scylla(version)), `${START}'dc1': 3} AND tablets = {'enabled': true}`)
    for (const server of [scylla('2025.3.9'), scylla('6.2.1'), CASSANDRA])
      assert.throws(() => keyspaceStatement(asked, server), {
        detail: new RegExp(
          `runs ${server.product} ${server.version}.*from 2025.4 on.*unset MILLRACE_SCYLLA_TABLETS`
        )
      })
  }
)

t.test(
  'a keyspace with other replicas in a named datacenter is refused, and one with more datacenters is not',
  async (t) => {
    const made: string[] = []
    const openIn = (replication: Readonly<Record<string, string>>, layout: KeyspaceLayout) =>
      makeKeyspace(
        { read: async () => [{ replication }], define: async (statement) => void made.push(statement) },
        layout
      )
    await openIn({ dc1: '3', dc2: '2' }, TWO)
    await openIn({ dc1: '3', dc2: '2', dc9: '1' }, TWO)
    await openIn({ dc1: '3', dc2: '2' }, LAYOUT)
    await openIn({ replication_factor: '3' }, LAYOUT)
    await assert.rejects(openIn({ dc1: '3', dc2: '1' }, TWO), {
      detail: /has 1 replicas in dc2, not 2: set MILLRACE_SCYLLA/
    })
    await assert.rejects(openIn({ dc1: '3' }, TWO), { detail: /has no replicas in dc2, not 2/ })
    t.strictSame(made, [])
  }
)

t.test('the setting takes a number, or a number of each datacenter, and names what is wrong', async (t) => {
  const { schema } = STORAGE_SETTINGS.scyllaReplication
  t.equal(schema.parse('3'), 3)
  t.strictSame(schema.parse('dc1:3, eu-west.2:2'), { dc1: 3, 'eu-west.2': 2 })
  for (const [text, message] of [
    ['0', 'is below 1'],
    ['11', 'is above 10'],
    ['', 'has , which is neither a number nor DATACENTER:NUMBER'],
    ['dc1', 'has dc1, which is neither a number nor DATACENTER:NUMBER'],
    ["dc1':3", "has dc1':3, which is neither a number nor DATACENTER:NUMBER"],
    ['dc1:0', 'has dc1:0, which is not from 1 to 10 replicas'],
    ['dc1:3,dc1:2', 'has dc1 twice']
  ] as const)
    t.equal(schema.safeParse(text).error?.issues[0]?.message, message, text)
})

t.test('statements need a majority of the local datacenter alone', async (t) => {
  const { localQuorum, localSerial } = types.consistencies
  for (const options of [QUORUM, PATIENT, CONDITIONAL, CONDITIONAL_BATCH])
    t.equal(options.consistency, localQuorum)
  for (const options of [CONDITIONAL, CONDITIONAL_BATCH]) t.equal(options.serialConsistency, localSerial)
  t.equal(SERIAL.consistency, localSerial)
  const nodes = new LocalNodes('dc1')
  const distance = (datacenter: string): number => nodes.getDistance({ datacenter } as Host)
  t.equal(distance('dc1'), types.distance.local)
  t.equal(distance('dc2'), types.distance.ignored, 'no statement goes to another datacenter')
})

t.test('tables that a server keeps beside ours are left as they are', async (t) => {
  const tables = ['documents', 'documents$paxos'].map((table_name) => ({
    table_name,
    speculative_retry: '99p'
  }))
  t.strictSame(await speculationChanges({ read: async () => tables } as never, { keyspace: 'shop' }), [
    "ALTER TABLE shop.documents WITH speculative_retry = '50ms'"
  ])
})
