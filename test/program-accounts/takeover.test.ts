import { join } from 'node:path'
import { Registry } from 'prom-client'
import t from 'tap'
import { MirrorShard } from '../../actors/program-accounts/mirror-shard.ts'
import { pubkeyToBase58 } from '../../src/chain/pubkey.ts'
import { Whitelist } from '../../src/program-accounts/whitelist.ts'
import type { Clock } from '../../src/ports.ts'
import { mirrorMetrics } from '../../src/program-accounts/metrics.ts'
import { openEmbeddedStorage } from '../../storage/embedded/store.ts'
import type { DataMatcher, ProgramAccount } from '../../storage/port.ts'
import { ownDirectory } from '../own-directory.ts'
import { settle, virtualClock } from '../virtual-time.ts'
import { contentOf, mirrorSupervisor, PROGRAM, shapeOf } from './mirrored-world.ts'

const INDEX = { offset: 0, length: 1 }
const SLOT = 11
/** Milliseconds in which the previous process may still write. */
const TAKEOVER_MS = 30_000

const address = (n: number): Uint8Array => new Uint8Array(32).fill(n)
const account = (first: number): ProgramAccount => ({
  lamports: 1n,
  executable: false,
  rentEpoch: 0n,
  data: Uint8Array.of(first, 2, 3)
})

for (const isShared of [true, false])
  t.test(
    isShared
      ? 'a process that takes over builds an index once the one before has ceased to write'
      : 'a process that has the store alone builds an index at once',
    async (t) => {
      const storage = await openEmbeddedStorage({ directory: join(ownDirectory(t), 'store') })
      t.teardown(() => storage.close())
      const virtual = virtualClock()
      let waits = 0
      const clock: Clock = {
        now: () => virtual.now(),
        setTimeout: (run, ms) => (waits++, virtual.setTimeout(run, ms)),
        clearTimeout: (timer) => virtual.clearTimeout(timer as never)
      }
      /** Moves the clock until the mirror has polled again and waits for its next poll. */
      const look = async (): Promise<void> => {
        const before = waits
        virtual.increment(250)
        while (waits === before) await settle()
      }
      let steps = 0
      const counting = new Proxy(storage.programAccounts, {
        get: (target, name) => {
          if (name === 'index') steps++
          return (Reflect.get(target, name) as () => unknown).bind(target)
        }
      })
      const shardOf = (token: number): MirrorShard => {
        const claim = { token, lost: new AbortController().signal, held: true, outranked: () => undefined }
        return new MirrorShard('all', claim, {
          clock,
          random: () => 0,
          node: {
            accounts: () => Promise.reject(new Error('no account is asked for')),
            programAccounts: async () => ({
              slot: SLOT,
              accounts: [1, 2].map((n) => ({
                address: address(n),
                account: { ...account(n), owner: PROGRAM }
              }))
            })
          },
          subscribe: async (_, listener) => {
            listener.processed(SLOT)
            return {
              ended: new Promise(() => undefined),
              roundTrip: async () => undefined,
              close: () => undefined
            }
          },
          watch: { subscribe: () => () => undefined },
          store: counting,
          documents: storage.documents,
          isShared,
          metrics: mirrorMetrics(new Registry()),
          logger: { info: () => undefined, warn: () => undefined },
          slotsUnconfirmed: 0,
          mirrors: mirrorSupervisor(t, clock)
        })
      }
      const whitelist = new Whitelist(storage.documents)
      const name = pubkeyToBase58(PROGRAM)
      const progress = async () => (await whitelist.get(name))!.progress
      await whitelist.add(name, 0, [])
      const before = shardOf(1)
      await before.sync()
      while ((await progress()).slot === null) await look()
      await before.stop()
      await whitelist.add(name, 0, [INDEX])
      const after = shardOf(2)
      t.teardown(() => after.stop())
      const begun = clock.now()
      await after.sync()
      while ((await progress()).indexes.length === 0) await look()
      // A write of the previous process, which knows of no index.
      const late = { address: address(3), slot: SLOT + 1, account: account(1) }
      if (isShared) {
        while (clock.now() < begun + TAKEOVER_MS - 500) await look()
        t.equal(steps, 0, 'nothing is built')
        await storage.programAccounts.put(PROGRAM, [late], [])
      }
      while ((await progress()).indexes[0]?.state !== 'ready') await look()
      t.ok(steps > 0)
      const lookups = [{ ...INDEX, value: Uint8Array.of(1) }]
      const matches: DataMatcher = (bytes, from) => bytes[from] === 1
      const found = await contentOf(storage.programAccounts, SLOT + 1, { matches, lookups })
      t.equal(found.length, isShared ? 2 : 1)
      t.strictSame(shapeOf(found), shapeOf(await contentOf(storage.programAccounts, SLOT + 1, { matches })))
    }
  )
