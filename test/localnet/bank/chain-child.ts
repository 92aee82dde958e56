/**
 * A process that extends a chain to a slot. The content of a slot does not depend on when the process is started:
 *
 *     node chain-child.ts DIRECTORY SLOTS [COMMITMENT SLOT]
 *
 * It kills itself when this slot reaches this commitment. For each block event it prints a line with commitment, slot and
 * blockhash, and `done` at the end.
 */
import { writeSync } from 'node:fs'
import { argv } from 'node:process'
import { encodeBase58 } from '../../../src/chain/base58.ts'
import { LocalBank } from '../../../src/localnet/bank/bank.ts'
import { liveThrough, slotClock } from './lived-chain.ts'

const [, , directory, slots, killAt, killSlot] = argv
/** Synchronous, so that a line is written before the process dies. */
const say = (line: string): number => writeSync(1, `${line}\n`)

const clock = slotClock()
const bank = await LocalBank.open({ clock, seed: 'crash', directory: directory!, retainedSlots: 512 })
bank.listen((event) => {
  if (event.kind !== 'block') return
  say(`${event.commitment} ${event.block.slot} ${encodeBase58(event.block.blockhash)}`)
  if (event.commitment === killAt && event.block.slot === Number(killSlot))
    process.kill(process.pid, 'SIGKILL')
})
await liveThrough(bank, clock, Number(slots))
await bank.close()
say('done')
