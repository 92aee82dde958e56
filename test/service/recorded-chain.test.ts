import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import t from 'tap'
import { testWithFixtures } from '../fixtures.ts'
import { FIRST_SLOT, recordedBlocks, writeLines, type RecordedBlock } from './recorded-folder.ts'
import { ADMIN_KEY, spawnMillrace, startProcess } from './service-process.ts'
import { storedRows } from './stored-rows.ts'

const DONE = /the source has no more blocks/

/** Returns these blocks years earlier, like those of another chain. */
function yearsEarlier(blocks: readonly RecordedBlock[], slots: number): RecordedBlock[] {
  return blocks.map(({ slot, block }) => ({
    slot: slot + slots,
    block: { ...block, parentSlot: block.parentSlot + slots, blockTime: block.blockTime - 4 * 365 * 86_400 }
  }))
}

testWithFixtures(
  t,
  'a data folder of one chain refuses a folder of another one with a line, and keeps what it has',
  async (t) => {
    const directory = t.testdir({ one: {}, other: {} })
    const [one, other, dataDir] = ['one', 'other', 'data'].map((name) => join(directory, name)) as [
      string,
      string,
      string
    ]
    writeLines(one, 'a.ndjson', recordedBlocks(5))
    writeLines(other, 'b.ndjson', yearsEarlier(recordedBlocks(5), 1_000))
    const first = await startProcess({ dataDir, recordedDir: one })
    await first.said(DONE)
    await first.end('SIGTERM')
    const before = await storedRows(join(dataDir, 'store'))

    const args = [
      'serve',
      '--source',
      'recorded',
      '--recorded-dir',
      other,
      '--data-dir',
      dataDir,
      '--port',
      '0'
    ]
    const child = spawnMillrace(args, { MILLRACE_ADMIN_KEY: ADMIN_KEY })
    const [stderr, [code]] = await Promise.all([
      text(child.stderr!),
      once(child, 'exit') as Promise<[number | null]>
    ])
    t.equal(code, 1)
    const said = stderr.split('\n').filter((line) => line.startsWith('millrace: '))
    t.equal(said.length, 1)
    for (const part of [
      `MILLRACE_RECORDED_DIR=${other} is of another chain than the store of MILLRACE_DATA_DIR=${dataDir}`,
      `its slot ${FIRST_SLOT + 1_000} is of 2022-`,
      `the stored slot ${FIRST_SLOT + 8} of 2026-`,
      'give this folder its own MILLRACE_DATA_DIR'
    ])
      t.match(said[0], part)
    t.strictSame(await storedRows(join(dataDir, 'store')), before, 'nothing of the other chain is stored')

    writeLines(one, 'c.ndjson', recordedBlocks(8).slice(5))
    const again = await startProcess({ dataDir, recordedDir: one })
    await again.said(DONE)
    t.match((await again.get('/v1/health', null)).body, { slot: FIRST_SLOT + 14 }, 'its own chain goes on')
    t.match((await again.get('/v1/admin/recorded')).body, {
      chain: 'same',
      chain_detail: null,
      slots_not_read: 5
    })
    await again.end('SIGTERM')
    t.notMatch(again.stderr.join('\n'), /nothing is read|of another chain/)
  }
)

testWithFixtures(
  t,
  'a folder at or below the newest stored slot says that nothing of it was read',
  async (t) => {
    const directory = t.testdir({ late: {}, early: {} })
    const [late, early, dataDir] = ['late', 'early', 'data'].map((name) => join(directory, name)) as [
      string,
      string,
      string
    ]
    const blocks = recordedBlocks(6)
    writeLines(late, 'a.ndjson', blocks.slice(3))
    writeLines(early, 'b.ndjson', blocks.slice(0, 4))
    const first = await startProcess({ dataDir, recordedDir: late })
    await first.said(DONE)
    await first.end('SIGTERM')
    const second = await startProcess({ dataDir, recordedDir: early })
    await second.said(DONE)
    const { body } = await second.get('/v1/admin/recorded')
    await second.end('SIGTERM')
    const line = second.stderr
      .map((each) => JSON.parse(each) as { level: number; msg: string })
      .find(({ msg }) => msg.startsWith('nothing is read'))
    t.equal(line?.level, 40, 'it is a warning, for three of its slots are not stored')
    t.match(
      line?.msg,
      `all of its 4 slots, from ${FIRST_SLOT} to ${FIRST_SLOT + 6}, are at or below slot ${FIRST_SLOT + 10}`
    )
    t.match(line?.msg, '3 of 4 of these slots that were checked are not stored')
    t.match(body, { chain: 'same', slots: 4, slots_not_read: 4 })
  }
)

testWithFixtures(
  t,
  'files named by milliseconds and broken ones leave health and coverage right, and are all counted and listed',
  async (t) => {
    const directory = t.testdir({ blocks: {} })
    const blocks = join(directory, 'blocks')
    const records = recordedBlocks(3)
    writeLines(blocks, 'good.ndjson', records)
    for (const at of [0, 1, 2])
      writeFileSync(join(blocks, `${1_790_000_000_000 + at}.json`), JSON.stringify(records[at]!.block))
    for (let at = 0; at < 30; at++) writeFileSync(join(blocks, `broken-${at}.json`), '{')
    const service = await startProcess({ dataDir: join(directory, 'data'), recordedDir: blocks })
    await service.said(DONE)
    t.match((await service.get('/v1/health', null)).body, { slot: FIRST_SLOT + 4 })
    const coverage = await service.get('/v1/admin/coverage')
    t.match(coverage.body, { ranges: [{ from_slot: FIRST_SLOT, to_slot: FIRST_SLOT + 4 }], gaps: [] })
    const { body } = await service.get('/v1/admin/recorded')
    t.match(body, {
      directory: blocks,
      state: 'indexed',
      files: 34,
      slots: 3,
      first_slot: FIRST_SLOT,
      last_slot: FIRST_SLOT + 4,
      chain: 'empty',
      problems: 33,
      problems_by_reason: { 'not-json': 30, 'out-of-range': 3 },
      next_from: null
    })
    t.equal(body.data.length, 33)
    t.match(body.data[0], {
      reason: 'out-of-range',
      file: '1790000000000.json',
      line: null,
      detail: 'slot 1790000000000 is above 8589934591'
    })
    t.strictSame((await service.get('/v1/admin/recorded?from=30')).body.data, body.data.slice(30))
    t.match(
      (await service.get('/metrics', null)).body['text'],
      /millrace_recorded_problems\{reason="not-json"\} 30/
    )
    const tree = JSON.stringify((await service.get('/v1/admin/tree')).body)
    t.notMatch(tree, /"restarts":[1-9]/, 'nothing was restarted')
    t.match(await service.end('SIGTERM'), { code: 0 })
  }
)
