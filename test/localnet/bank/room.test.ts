import { randomBytes } from 'node:crypto'
import { lstatSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { included } from './market-entries.ts'
import { openBank, produce } from './sending.ts'

const MIB = 2 ** 20

const bytesOf = (directory: string): number =>
  readdirSync(directory).reduce((sum, name) => {
    const file = lstatSync(join(directory, name), { throwIfNoEntry: false })
    return sum + (file?.size ?? 0)
  }, 0)

t.test('the room of blocks that are no longer kept is given back', async (t) => {
  const directory = t.testdir()
  const bank = await openBank({ directory, retainedSlots: 512 })
  // Random bytes, which no engine compresses.
  bank.onSlot((slot, _, include) => include({ ...included(slot), wire: randomBytes(16 * 1_024) }, []))
  await produce(bank, 2_000)
  await bank.close()
  const written = (2_000 * 16) / 1_024
  const kept = bytesOf(directory) / MIB
  t.ok(kept >= 8 && kept < 17, `${kept} of ${written} MiB are on disk, 8 of them are kept blocks`)
})

t.test('a note that the market takes back is gone after a restart, and others are not', async (t) => {
  const directory = t.testdir()
  const bank = await openBank({ directory })
  bank.onSlot((slot, _, _include, keep) => {
    keep('stays', Buffer.from(String(slot)))
    keep('goes', slot < 3 ? Buffer.from('here') : null)
  })
  await produce(bank, 2)
  t.same(Buffer.from(bank.note('goes')!).toString(), 'here')
  await produce(bank, 1)
  t.equal(bank.note('goes'), null)
  await bank.close()
  const again = await openBank({ directory })
  t.equal(again.note('goes'), null)
  t.same(Buffer.from(again.note('stays')!).toString(), '3')
  await again.close()
})
