import { setTimeout as delay } from 'node:timers/promises'
import t from 'tap'
import { systemPorts, type Clock } from '../../src/ports.ts'
import { emptyBlock } from '../../storage/test/sample-blocks.ts'
import { openScyllaStorage } from '../../storage/scylla/store.ts'
import { testWithCql } from '../servers/cql.ts'
import { CqlProxy } from './cql-proxy.ts'
import { ownKeyspace } from '../service/cluster.ts'
import { scyllaOptions } from './scylla-keyspace.ts'

/**
 * Longest pause. Ingest must continue within 5 s after a store's return, so a pause of the session and one of the commit
 * must fit in.
 */
const PAUSE_MS_MAX = 1_000
/** Pauses double up to the longest; this number of the commit's and of the session's reaches it. */
const PAUSES = 40
/** The driver's connection timeout, which is no pause. */
const CONNECT_MS = 10_000

testWithCql(
  t,
  'in a long outage tries of a commit and of the connection are a second apart at most',
  async (t, server) => {
    const proxy = await CqlProxy.start(server.contactPoints[0]!)
    t.teardown(() => proxy.end())
    const pauses: number[] = []
    let isAway = false
    const { clock } = systemPorts
    const hurried: Clock = {
      ...clock,
      setTimeout: (run, ms) => {
        if (!isAway || ms === CONNECT_MS) return clock.setTimeout(run, ms)
        pauses.push(ms)
        return clock.setTimeout(run, ms / 20)
      }
    }
    const storage = await openScyllaStorage({
      ...scyllaOptions(server, ownKeyspace(t, server)),
      contactPoints: [`127.0.0.1:${proxy.port}`],
      port: proxy.port,
      ports: { ...systemPorts, clock: hurried }
    })
    t.teardown(() => storage.close())
    await storage.blocks.commit(emptyBlock(0))
    proxy.mode = 'shut'
    isAway = true
    const commit = storage.blocks.commit(emptyBlock(1))
    while (pauses.length < PAUSES) await delay(10)
    t.ok(Math.max(...pauses) <= PAUSE_MS_MAX, `the longest is ${Math.round(Math.max(...pauses))} ms`)
    t.ok(Math.max(...pauses) > PAUSE_MS_MAX / 2, 'they become longer, so that tries of a long outage are few')
    proxy.mode = 'open'
    t.equal(await commit, true)
  }
)
