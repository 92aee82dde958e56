import t from 'tap'
import { formatOf, listFiles, readText, slotOfName } from '../../src/recorded/files.ts'

t.test('the ending of a name says how a file holds its records', (t) => {
  t.same(formatOf('a.json'), { lines: false, compression: null })
  t.same(formatOf('deep/a.b.json.gz'), { lines: false, compression: 'gzip' })
  t.same(formatOf('a.json.zst'), { lines: false, compression: 'zstd' })
  t.same(formatOf('a.ndjson'), { lines: true, compression: null })
  t.same(formatOf('a.ndjson.gz'), { lines: true, compression: 'gzip' })
  t.same(formatOf('a.ndjson.zst'), { lines: true, compression: 'zstd' })
  for (const other of ['a.txt', 'json', '.json', 'a.json.bz2', 'a.gz', 'a.json.gz.tmp', 'a.jsonl']) {
    t.equal(formatOf(other), null, other)
  }
  t.end()
})

t.test('a name gives a slot when one number stands in it', (t) => {
  for (const name of [
    '254170887.json',
    'deep/254170887.json.gz',
    '2024/254170887.ndjson.zst',
    'block-254170887.json',
    'block254170887.json',
    'slot_254170887.json',
    'mainnet.254170887.dex.json'
  ]) {
    t.equal(slotOfName(name), 254170887, name)
  }
  for (const name of ['index.json', '2024-03-14.json', '5zbo9.json', '4h6U.json', '-', 'a1.json']) {
    t.equal(slotOfName(name), null, name)
  }
  t.end()
})

t.test('files are listed at any depth in order of their names', async (t) => {
  const directory = t.testdir({
    b: { 'x.json': '', a: { 'y.json': '' } },
    'a.json': '',
    'b.json': '',
    'b-1': { z: '' }
  })
  t.same(await listFiles(directory), ['a.json', 'b-1/z', 'b.json', 'b/a/y.json', 'b/x.json'])
})

t.test('a text is read up to its limit and not beyond', async (t) => {
  let given = 0
  async function* endless(): AsyncGenerator<Buffer> {
    for (;;) {
      given++
      yield Buffer.alloc(10)
    }
  }
  t.equal(await readText(endless(), 25), null)
  t.equal(given, 3)
})
