import { MEMO, USDC, VOTE } from '../programs.ts'
import { Refused, type MarketTurn } from './turn.ts'

/** Writes a validator's vote on earlier blocks. */
export function vote(turn: MarketTurn, number: number): boolean {
  const { voters } = turn.parts.people
  const { identity, account } = voters[number % voters.length]!
  const accounts = [
    { address: account, writable: true },
    { address: identity, signer: true }
  ]
  const data = towerSync(turn.slot, turn.random.bytes(32), turn.random.bytes(32))
  return turn.run({ kind: 'vote', payer: identity, isVote: true, hasBudget: false }, (script) =>
    script.call(VOTE, accounts, data)
  )
}

/** Builds a TowerSync vote: root, lockouts of the last slots with their confirmations, bank hash, no time, block id. */
function towerSync(slot: number, hash: Uint8Array, blockId: Uint8Array): Uint8Array {
  const votes = Math.min(31, Math.max(1, slot))
  const data = new DataView(new ArrayBuffer(4 + 8 + 1 + 2 * votes + 32 + 1 + 32))
  data.setUint32(0, 14, true)
  data.setBigUint64(4, BigInt(Math.max(0, slot - votes - 1)), true)
  data.setUint8(12, votes)
  for (let at = 0; at < votes; at++) {
    data.setUint8(13 + 2 * at, 1)
    data.setUint8(14 + 2 * at, votes - at)
  }
  const bytes = new Uint8Array(data.buffer)
  bytes.set(hash, 13 + 2 * votes)
  bytes.set(blockId, bytes.length - 32)
  return bytes
}

/** Sends lamports or dollars between two wallets, sometimes with a memo. */
export function payment(turn: MarketTurn, fails: boolean): boolean {
  const { people, ledger } = turn.parts
  const from = turn.pick(people.traders)
  const to = turn.pick(people.traders)
  if (from === to) return false
  const dollars = turn.chance(0.5)
  return turn.run({ kind: fails ? 'failed' : 'transfer', payer: from }, (script) => {
    if (dollars) {
      const account = ledger.tokenAccountOf(from, USDC)
      const amount = BigInt(Math.floor(turn.size(40) * 1e6))
      if (ledger.tokens(account) < amount) throw new Refused()
      const receiver = script.ensureTokenAccount(to, USDC)
      script.transfer({ mint: USDC, from: account, to: receiver, authority: from, amount })
    } else script.transferLamports(from, to, BigInt(Math.floor(turn.size(0.1) * 1e9)))
    if (fails) return script.fail(1)
    if (!turn.chance(0.2)) return
    const text = `invoice ${Math.floor(turn.random.next() * 10_000)}`
    script.call(MEMO, [{ address: from, signer: true }], new TextEncoder().encode(text), (call) =>
      call.log(`Memo (len ${text.length}): "${text}"`)
    )
  })
}
