/**
 * Assembles a program that swaps like Raydium's pools without an order book, so that a real node executes trades. Its eight
 * accounts are token program, pool, authority, coin vault, pc vault, source, destination and owner. It calls the token
 * program to move the first amount of its data into a vault and the second out of the other; the owner signs for both. The
 * data is that of `swapBaseInV2` (0x10), from source to coin vault, or `swapBaseOutV2` (0x11), from source to pc vault.
 */
export function swapProgram(): Buffer {
  return elfOf(assembled())
}

const ACCOUNTS = 8
/** Offsets below the frame's end: eight account infos of 56 bytes, and the parts of an instruction. */
const INFOS = -512
const INFO_BYTES = 56
const METAS = -640
const DATA = -592
const INSTRUCTION = -576
const [COIN_VAULT, PC_VAULT, SOURCE, DESTINATION, OWNER] = [3, 4, 5, 6, 7]
/** An input account: flags, key, owner, lamports, length, data, room to grow, rent epoch. */
const IN = { signer: 1, writable: 2, executable: 3, key: 8, owner: 40, lamports: 72, length: 80, data: 88 }
const ROOM_TO_GROW = 10_240

type Word = readonly [opcode: number, dst: number, src: number, offset: number, imm: number]

const move = (dst: number, src: number): Word => [0xbf, dst, src, 0, 0]
const set = (dst: number, imm: number): Word => [0xb7, dst, 0, 0, imm]
const add = (dst: number, imm: number): Word => [0x07, dst, 0, 0, imm]
const addTo = (dst: number, src: number): Word => [0x0f, dst, src, 0, 0]
const mask = (dst: number, imm: number): Word => [0x57, dst, 0, 0, imm]
const load = (dst: number, src: number, offset: number): Word => [0x79, dst, src, offset, 0]
const loadByte = (dst: number, src: number, offset: number): Word => [0x71, dst, src, offset, 0]
const store = (dst: number, offset: number, src: number): Word => [0x7b, dst, src, offset, 0]
const storeByte = (dst: number, offset: number, src: number): Word => [0x73, dst, src, offset, 0]
const put = (dst: number, offset: number, imm: number): Word => [0x7a, dst, 0, offset, imm]
const putShort = (dst: number, offset: number, imm: number): Word => [0x6a, dst, 0, offset, imm]
const putByte = (dst: number, offset: number, imm: number): Word => [0x72, dst, 0, offset, imm]
const unless = (dst: number, imm: number, by: number): Word => [0x55, dst, 0, by, imm]
/** A syscall; the loader fills in which one. */
const CALL: Word = [0x85, 0, 1, 0, -1]
const EXIT: Word = [0x95, 0, 0, 0, 0]

/** Registers: 6 is where the input is read, 7 the info that is written, 8 counts, 10 is the frame's end. */
function assembled(): Word[] {
  const readAccount: Word[] = [
    ...[IN.key, IN.lamports, null, IN.data, IN.owner].flatMap((from, at) =>
      from === null
        ? [load(3, 6, IN.length), store(7, 8 * at, 3)]
        : [move(2, 6), add(2, from), store(7, 8 * at, 2)]
    ),
    move(4, 6),
    add(4, IN.data + ROOM_TO_GROW + 7),
    addTo(4, 3),
    mask(4, -8),
    load(2, 4, 0),
    store(7, 40, 2),
    ...[IN.signer, IN.writable, IN.executable].flatMap((from, at) => [
      loadByte(2, 6, from),
      storeByte(7, 48 + at, 2)
    ]),
    move(6, 4),
    add(6, 8),
    add(7, INFO_BYTES),
    add(8, 1)
  ]
  const swapIn = [...transfer(SOURCE, COIN_VAULT, 1), ...transfer(PC_VAULT, DESTINATION, 9)]
  const swapOut = [...transfer(SOURCE, PC_VAULT, 1), ...transfer(COIN_VAULT, DESTINATION, 9)]
  const end = [set(0, 0), EXIT]
  return [
    move(6, 1),
    add(6, 8),
    move(7, 10),
    add(7, INFOS),
    set(8, 0),
    ...readAccount,
    unless(8, ACCOUNTS, -readAccount.length - 1),
    // The length of the data precedes it.
    add(6, 8),
    loadByte(2, 6, 0),
    unless(2, 0x10, swapIn.length + end.length),
    ...swapIn,
    ...end,
    ...swapOut,
    ...end
  ]
}

/** Emits a call of the token program that transfers the amount at an offset of the data. */
function transfer(from: number, to: number, amountAt: number): Word[] {
  const meta = (at: number, account: number, flags: number): Word[] => [
    load(2, 10, INFOS + INFO_BYTES * account),
    store(10, METAS + 16 * at, 2),
    putShort(10, METAS + 16 * at + 8, flags)
  ]
  const pointTo = (field: number, place: number): Word[] => [
    move(2, 10),
    add(2, place),
    store(10, INSTRUCTION + field, 2)
  ]
  return [
    ...meta(0, from, 0x0001),
    ...meta(1, to, 0x0001),
    ...meta(2, OWNER, 0x0100),
    putByte(10, DATA, 3),
    load(2, 6, amountAt),
    store(10, DATA + 1, 2),
    load(2, 10, INFOS),
    store(10, INSTRUCTION, 2),
    ...pointTo(8, METAS),
    put(10, INSTRUCTION + 16, 3),
    ...pointTo(24, DATA),
    put(10, INSTRUCTION + 32, 9),
    move(1, 10),
    add(1, INSTRUCTION),
    move(2, 10),
    add(2, INFOS),
    set(3, ACCOUNTS),
    set(4, 0),
    set(5, 0),
    CALL
  ]
}

const SYSCALL = 'sol_invoke_signed_c'
const R_BPF_64_32 = 10n
const SECTION = { PROGBITS: 1, STRTAB: 3, DYNAMIC: 6, REL: 9, DYNSYM: 11 } as const

/**
 * Builds the smallest file that Solana's loader accepts: text and a relocation of each syscall. Addresses are file offsets.
 */
function elfOf(words: readonly Word[]): Buffer {
  const text = Buffer.concat(
    words.map(([opcode, dst, src, offset, imm]) => {
      const word = Buffer.alloc(8)
      word.writeUInt8(opcode)
      word.writeUInt8(dst | (src << 4), 1)
      word.writeInt16LE(offset, 2)
      word.writeInt32LE(imm, 4)
      return word
    })
  )
  const PROGRAM_HEADERS_AT = 64
  const TEXT_AT = PROGRAM_HEADERS_AT + 2 * 56
  const calls = words.flatMap((word, at) => (word === CALL ? [TEXT_AT + 8 * at] : []))
  const names = Buffer.from(`\0${SYSCALL}\0`)
  const relocations = longs(calls.flatMap((at) => [BigInt(at), (1n << 32n) | R_BPF_64_32]))
  // One global symbol without a type and an address.
  const symbols = Buffer.concat([Buffer.alloc(24), Buffer.from([1, 0, 0, 0, 0x10]), Buffer.alloc(19)])
  const parts: [name: string, type: number, bytes: Buffer, link: number, entry: number][] = [
    ['.text', SECTION.PROGBITS, text, 0, 0],
    ['.dynsym', SECTION.DYNSYM, symbols, 3, 24],
    ['.dynstr', SECTION.STRTAB, names, 0, 0],
    ['.rel.dyn', SECTION.REL, relocations, 2, 16],
    ['.dynamic', SECTION.DYNAMIC, Buffer.alloc(7 * 16), 3, 16],
    ['.shstrtab', SECTION.STRTAB, Buffer.alloc(64), 0, 0]
  ]
  const places: number[] = []
  let end = TEXT_AT
  for (const [, , bytes] of parts) {
    places.push(end)
    end += Math.ceil(bytes.length / 8) * 8
  }
  const [, symbolsAt, namesAt, relocationsAt, dynamicAt] = places as [number, number, number, number, number]
  const file = Buffer.alloc(end + 64 * (parts.length + 1))
  const sectionNames = `\0${parts.map(([name]) => name).join('\0')}\0`
  parts.forEach(([, , bytes], at) => bytes.copy(file, places[at]))
  file.write(sectionNames, places[5]!, 'latin1')
  const dynamic = [17, relocationsAt, 18, relocations.length, 19, 16, 6, symbolsAt, 11, 24, 5, namesAt, 0, 0]
  longs(dynamic.map(BigInt)).copy(file, dynamicAt)

  Buffer.from([0x7f, 0x45, 0x4c, 0x46, 2, 1, 1]).copy(file)
  file.writeUInt16LE(3, 16)
  file.writeUInt16LE(247, 18)
  file.writeUInt32LE(1, 20)
  longs([BigInt(TEXT_AT), BigInt(PROGRAM_HEADERS_AT), BigInt(end)]).copy(file, 24)
  ;[64, 56, 2, 64, parts.length + 1, 6].forEach((value, at) => file.writeUInt16LE(value, 52 + 2 * at))
  const programHeader = (nth: number, type: number, flags: number, at: number, bytes: number): void => {
    const place = PROGRAM_HEADERS_AT + 56 * nth
    file.writeUInt32LE(type, place)
    file.writeUInt32LE(flags, place + 4)
    longs([at, at, at, bytes, bytes, 8].map(BigInt)).copy(file, place + 8)
  }
  programHeader(0, 1, 5, TEXT_AT, text.length)
  programHeader(1, 2, 6, dynamicAt, 7 * 16)
  parts.forEach(([name, type, bytes, link, entry], at) => {
    const place = end + 64 * (at + 1)
    file.writeUInt32LE(sectionNames.indexOf(`\0${name}\0`) + 1, place)
    file.writeUInt32LE(type, place + 4)
    const flags = name === '.text' ? 6 : 2
    longs([flags, places[at]!, places[at]!, bytes.length].map(BigInt)).copy(file, place + 8)
    file.writeUInt32LE(link, place + 40)
    longs([8, entry].map(BigInt)).copy(file, place + 48)
  })
  return file
}

function longs(values: readonly bigint[]): Buffer {
  const bytes = Buffer.alloc(8 * values.length)
  values.forEach((value, at) => bytes.writeBigUInt64LE(value, 8 * at))
  return bytes
}
