import { randomBytes } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { ClassicLevel } from 'classic-level'
import t from 'tap'
import { ENGINE, engineWithin } from '../../storage/embedded/engine-options.ts'

const MIB = 2 ** 20
const TABLES_MAX = 64

t.test('the buffers are within the memory that is given, and no larger than what is of use', async (t) => {
  for (const bytes of [MIB, 4 * MIB, 32 * MIB]) {
    const { cacheSize, writeBufferSize } = engineWithin(bytes)
    t.ok(cacheSize + 2 * writeBufferSize <= bytes, `${bytes} bytes`)
  }
  t.strictSame(engineWithin(Infinity), ENGINE)
})

t.test(
  'with little memory few tables are mapped, however many are read',
  { skip: !existsSync('/proc/self/maps') },
  async (t) => {
    const directory = t.testdir()
    const options = { ...engineWithin(2 * MIB), maxFileSize: MIB }
    const level = new ClassicLevel<Buffer, Uint8Array>(directory, options)
    t.teardown(() => level.close())
    const key = (at: number): Buffer => Buffer.from(String(at).padStart(6, '0'))
    const ROWS = 1_600
    for (let at = 0; at < ROWS; at++) await level.put(key(at), randomBytes(MIB / 16))
    for (let at = 0; at < ROWS; at++) t.equal((await level.get(key(at)))?.length, MIB / 16)
    const tables = readdirSync(directory).filter((name) => name.endsWith('.ldb')).length
    t.ok(tables > TABLES_MAX + 20, `${tables} tables are on disk`)
    const mapped = readFileSync('/proc/self/maps', 'utf8')
      .split('\n')
      .filter((line) => line.includes(directory) && line.includes('.ldb')).length
    t.ok(mapped > 0 && mapped <= TABLES_MAX, `${mapped} are mapped`)
  }
)
