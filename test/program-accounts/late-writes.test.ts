import { join } from 'node:path'
import t, { type Test } from 'tap'
import { MirroredAccounts } from '../../actors/program-accounts/mirrored-accounts.ts'
import { NO_PROGRESS, type MirrorProgress } from '../../src/program-accounts/program.ts'
import { systemPorts } from '../../src/ports.ts'
import { openEmbeddedStorage } from '../../storage/embedded/store.ts'
import type { AccountVersion, ProgramAccountStore } from '../../storage/port.ts'
import { ownDirectory } from '../own-directory.ts'
import { contentOf, PROGRAM, shapeOf } from './mirrored-world.ts'

const addressOf = (n: number): Uint8Array => new Uint8Array(32).fill(n)
const accountOf = (lamports: number) => ({
  lamports: BigInt(lamports),
  executable: false,
  rentEpoch: 0n,
  data: Uint8Array.of(lamports)
})
const versionOf = (n: number, slot: number, lamports: number | null): AccountVersion => ({
  address: addressOf(n),
  slot,
  account: lamports === null ? null : accountOf(lamports)
})
/** A snapshot of accounts, each given by its number and its lamports. */
const snapshotOf = (slot: number, accounts: Readonly<Record<number, number>>) => ({
  slot,
  accounts: Object.entries(accounts).map(([n, lamports]) => ({
    address: addressOf(Number(n)),
    account: { ...accountOf(lamports), owner: PROGRAM }
  }))
})
const listed = (accounts: Readonly<Record<number, number>>): string[] =>
  Object.entries(accounts)
    .map(([n, lamports]) => `${n} ${lamports} ${Uint8Array.of(lamports).toHex()}`)
    .sort()

/** Mirrors of several processes on one store; the document of progress refuses one that was outranked. */
async function opened(t: Test) {
  const storage = await openEmbeddedStorage({ directory: join(ownDirectory(t), 'store') })
  t.teardown(() => storage.close())
  const store = storage.programAccounts
  let progress: MirrorProgress = NO_PROGRESS
  let newest = 0
  const mirrorOf = (token: number, put: ProgramAccountStore['put'] = (...asked) => store.put(...asked)) => {
    newest = token
    const save = async (changed: MirrorProgress): Promise<void> => {
      if (token < newest) throw new Error('outranked')
      progress = changed
    }
    const own = new Proxy(store, {
      get: (target, name) =>
        name === 'put' ? put : (Reflect.get(target, name) as (...asked: unknown[]) => unknown).bind(target)
    })
    return new MirroredAccounts(PROGRAM, progress, save, { store: own, clock: systemPorts.clock })
  }
  const content = async (slot = progress.slot!): Promise<string[]> =>
    shapeOf(await contentOf(store, slot, { abandoned: progress.abandoned }))
  return { store, mirrorOf, content, progress: () => progress }
}

for (const when of ['before', 'after'] as const)
  t.test(
    `a process that was outranked writes a last version ${when} the snapshot of the next is compared`,
    async (t) => {
      const { store, mirrorOf, content, progress } = await opened(t)
      const held = Promise.withResolvers<void>()
      let isHolding = false
      const before = mirrorOf(1, async (...asked) => {
        if (isHolding) await held.promise
        await store.put(...asked)
      })
      await before.replace(snapshotOf(10, { 1: 1, 2: 2, 3: 3 }), () => true)
      await before.advance(11, [versionOf(1, 11, 4)])
      isHolding = true
      // Account 5 is created, and 2 changed and 3 closed, in slots of which the next process has a snapshot only afterwards.
      const late = before.advance(14, [versionOf(5, 12, 5), versionOf(2, 13, 6), versionOf(3, 14, null)])
      const after = mirrorOf(2)
      if (when === 'before') held.resolve()
      if (when === 'before') await t.rejects(late, { message: 'the store failed' })
      // By slot 16 account 5 is closed, 2 is as it was, and 3 was created again.
      await after.replace(snapshotOf(16, { 1: 4, 2: 2, 3: 3 }), () => false)
      held.resolve()
      if (when === 'after') await t.rejects(late, { message: 'the store failed' })
      const expected = { 1: 4, 2: 2, 3: 3 }
      t.strictSame(await content(), listed(expected))
      t.strictSame(await content(11), listed({ 1: 4, 2: 2, 3: 3 }), 'and what was complete stays')
      t.strictSame(progress().abandoned!.slice(1), [{ from: 12, to: 15 }])
      const known = await after.newest([addressOf(5), addressOf(2), addressOf(3)])
      t.strictSame(
        known.map((version) => version?.account?.lamports ?? null),
        [null, 2n, 3n]
      )
      // Versions that were passed over are no state before an update.
      await after.advance(17, [versionOf(2, 17, 6), versionOf(5, 17, 5)])
      t.strictSame(await content(), listed({ 1: 4, 2: 6, 3: 3, 5: 5 }))
      t.equal(progress().accounts, 4)
      // A third process finds the same.
      const third = mirrorOf(3)
      t.equal(await third.replace(snapshotOf(17, { 1: 4, 2: 6, 3: 3, 5: 5 }), () => false), 0)
      t.strictSame(await content(), listed({ 1: 4, 2: 6, 3: 3, 5: 5 }))
    }
  )

t.test('of many starts in succession the last sixteen ranges are known', async (t) => {
  const { mirrorOf, content, progress } = await opened(t)
  for (let start = 1; start <= 20; start++)
    await mirrorOf(start).replace(snapshotOf(start * 10, { 1: start }), () => false)
  t.equal(progress().abandoned!.length, 16)
  t.strictSame(progress().abandoned!.at(-1), { from: 191, to: 199 })
  t.strictSame(await content(), listed({ 1: 20 }))
})
