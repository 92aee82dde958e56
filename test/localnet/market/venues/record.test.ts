import t from 'tap'
import { account, record } from '../../../../src/localnet/market/venues/record.ts'

const key = (byte: number): Uint8Array => new Uint8Array(32).fill(byte)

t.test('a record is its discriminator and its fields in their order, little-endian', async (t) => {
  const write = record('a1b2', 'a:u8 b:u16 c:u32 d:i32 e:u64 f:i64 g:u128 h:bool i:i128')
  const g = (1n << 64n) + 2n
  const bytes = write({ a: 1, b: 0x0203, c: 0x04050607, d: -2, e: 8n, f: -3n, g, h: true, i: -g })
  t.equal(
    bytes.toHex(),
    [
      'a1b2',
      '01',
      '0302',
      '07060504',
      'feffffff',
      '0800000000000000',
      'fdffffffffffffff',
      '02000000000000000100000000000000',
      '01',
      'feffffffffffffff' + 'feffffffffffffff'
    ].join('')
  )
})

t.test('keys, texts, options, lists and arrays are as Borsh has them', async (t) => {
  const write = record('', 'a:pubkey b:string c:option<u16> d:option<u16> e:vec<u8> f:u16[2] g:bytes')
  const bytes = write({ a: key(7), b: 'é', c: 5, d: null, e: [1, 2], f: [3, 4], g: Uint8Array.of(9, 9) })
  t.equal(
    bytes.toHex(),
    [key(7).toHex(), '02000000c3a9', '010500', '00', '020000000102', '03000400', '0909'].join('')
  )
})

t.test('an optional field that is left out is zero, empty or none', async (t) => {
  const write = record(
    'ff',
    'a?:u64 b?:pubkey c?:string d?:option<u64> e?:vec<u64> f?:u8[3] g?:bool h?:bytes'
  )
  t.equal(write({}).toHex(), `ff${'00'.repeat(8 + 32 + 4 + 1 + 4 + 3 + 1)}`)
  t.equal(write({ g: true }).at(-1), 1)
})

t.test('two records that are written one after the other do not share bytes', async (t) => {
  const write = record('', 'a:u8')
  const first = write({ a: 1 })
  write({ a: 2 })
  t.same([...first], [1])
})

t.test('a type that is none, and more bytes than a program is passed, are refused', async (t) => {
  t.throws(() => record('', 'a:u7' as 'a:u8'), { message: 'no field has the type u7' })
  const write = record('', 'a:bytes')
  t.equal(write({ a: new Uint8Array(10_240) }).length, 10_240)
  t.throws(() => write({ a: new Uint8Array(10_241) }), RangeError)
})

t.test('an account has its size, fields at their offsets and zeros between them', async (t) => {
  const write = account(16, 'a1a2', 'a:u8@4 b:u16[2]@8')
  t.equal(write({ a: 1, b: [2, 3] }).toHex(), 'a1a2000001000000020003000000' + '0000')
  t.equal(write({ a: 0, b: [0, 0] }).toHex(), `a1a2${'00'.repeat(14)}`, 'nothing is left of the one before')
  t.throws(() => account(4, '', 'a:u64@0')({ a: 1n }), RangeError)
})

t.test('an array of another length than its type has is refused', async (t) => {
  t.throws(() => record('', 'a:u8[2]')({ a: [1] }), { message: '1 items for u8[2]' })
})
