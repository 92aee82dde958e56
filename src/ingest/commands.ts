import { command, type Commands } from '../kernel/cli/command.ts'

/** Commands that decode blocks, and record them. */
export const INGEST_COMMANDS: Commands = {
  decode: command({
    position: 50,
    summary: 'Prints the events of getTransaction and getBlock results, one JSON object a line.',
    details: 'Without a file, or for `-`, it reads standard input.',
    operands: '[FILE…|-]',
    options: { explain: { meaning: 'also print each call of a venue, and how it was decoded' } },
    settings: [],
    examples: ['millrace decode --explain block.json'],
    run: async (invocation) => (await import('./commands/decode.ts')).decode(invocation)
  }),
  record: command({
    position: 70,
    summary: 'Downloads the blocks of a range of slots into the recorded folder.',
    details: 'A repeated run downloads only missing blocks. Exits with 1 if a block is still missing.',
    operands: 'FROM..TO',
    settings: ['recordedDir', 'rpcUrl', 'archiveRpcUrl'],
    examples: ['millrace record 300000000..300000999 --rpc-url https://NODE --recorded-dir ./blocks'],
    run: async (invocation) => (await import('./commands/record.ts')).record(invocation)
  })
}
