import { join } from 'node:path'
import t, { type Test } from 'tap'
import { MirroredAccounts } from '../../actors/program-accounts/mirrored-accounts.ts'
import type { MirrorLimits } from '../../actors/program-accounts/mirror-deps.ts'
import { NO_PROGRESS } from '../../src/program-accounts/program.ts'
import { systemPorts } from '../../src/ports.ts'
import { openEmbeddedStorage } from '../../storage/embedded/store.ts'
import type { AccountVersion } from '../../storage/port.ts'
import { ownDirectory } from '../own-directory.ts'
import { steadily as until } from '../until.ts'
import { contentOf, openWorld, PROGRAM } from './mirrored-world.ts'

const addressOf = (n: number): Uint8Array => new Uint8Array(32).fill(n)
const accountOf = (bytes: number) => ({
  lamports: 1n,
  executable: false,
  rentEpoch: 0n,
  data: new Uint8Array(bytes).fill(bytes)
})
const versionOf = (n: number, slot: number, bytes: number): AccountVersion => ({
  address: addressOf(n),
  slot,
  account: accountOf(bytes)
})
const snapshotOf = (slot: number, ...sizes: readonly number[]) => ({
  slot,
  accounts: sizes.map((bytes, n) => ({
    address: addressOf(n),
    account: { ...accountOf(bytes), owner: PROGRAM }
  }))
})

async function opened(t: Test, limits: MirrorLimits) {
  const storage = await openEmbeddedStorage({ directory: join(ownDirectory(t), 'store') })
  t.teardown(() => storage.close())
  const store = storage.programAccounts
  // Superseded versions leave at once.
  const superseded = { retentionMs: 0, versionsMax: 0, bytesMax: 0 }
  const deps = { store, clock: systemPorts.clock, limits, superseded }
  return { store, mirrored: new MirroredAccounts(PROGRAM, NO_PROGRESS, async () => undefined, deps) }
}

t.test(
  'a snapshot with more accounts or data than a mirror may have is refused, and nothing of it stored',
  async (t) => {
    const { store, mirrored } = await opened(t, { accountsMax: 3, dataBytesMax: 100 })
    for (const [sizes, fault] of [
      [[1, 1, 1, 1], 'it has 4 accounts, and a mirror has at most 3'],
      [[50, 51], 'its accounts have 101 bytes of data, and a mirror has at most 100']
    ] as const) {
      await t.rejects(
        mirrored.replace(snapshotOf(5, ...sizes), () => false),
        { message: fault }
      )
      t.strictSame(await contentOf(store, 9), [])
      t.equal(mirrored.progress.slot, null)
    }
    await mirrored.replace(snapshotOf(6, 1, 1, 98), () => false)
    t.match(mirrored.progress, { slot: 6, accounts: 3 })
  }
)

t.test('updates beyond the limits are refused as a whole, and leave the stored state as it is', async (t) => {
  const { store, mirrored } = await opened(t, { accountsMax: 3, dataBytesMax: 100 })
  await mirrored.replace(snapshotOf(5, 10, 20), () => false)
  const before = await contentOf(store, 9)
  const refused: readonly (readonly AccountVersion[])[] = [
    [versionOf(0, 7, 11), versionOf(2, 7, 1), versionOf(3, 7, 1)],
    [versionOf(0, 7, 81)]
  ]
  for (const updates of refused) {
    await t.rejects(mirrored.advance(7, updates), { message: /a mirror has at most/ })
    await mirrored.prune()
    t.strictSame(await contentOf(store, 9), before)
    t.equal(mirrored.progress.slot, 5)
  }
  await mirrored.advance(8, [versionOf(0, 8, 80), versionOf(2, 8, 0)])
  await t.rejects(mirrored.advance(9, [versionOf(1, 9, 21)]), { message: /have 101 bytes of data/ })
  // A closed account makes room.
  await mirrored.advance(9, [{ address: addressOf(0), slot: 9, account: null }, versionOf(1, 9, 100)])
  t.match(mirrored.progress, { slot: 9, accounts: 2 })
})

t.test(
  'a program that is too large stops its mirror with the reason, and the node is left alone',
  async (t) => {
    const opened = await openWorld(t, { limits: { accountsMax: 0, dataBytesMax: 1e9 } })
    let snapshots = 0
    opened.snapshots.read = async () => void snapshots++
    const mirror = opened.start()
    await until(async () => {
      await opened.world.slots(1)
      return mirror.progress.reason?.includes('a mirror has at most 0') === true
    }, 'the reason')
    t.equal(mirror.progress.slot, null)
    const read = snapshots
    await opened.world.slots(20)
    t.equal(snapshots, read, 'it is read again after a while')
    t.strictSame(await contentOf(opened.store(), opened.world.bank.slot('processed')), [])
  }
)
