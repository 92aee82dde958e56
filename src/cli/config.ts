import { maskedConfig, readConfig } from '../config.ts'
import type { Command } from './command.ts'

/** Prints the effective configuration as JSON, secrets masked. */
export const config: Command = async ({ args, stdout, stderr }) => {
  const reading = readConfig(args)
  if (reading.kind === 'invalid') {
    for (const problem of reading.problems) stderr(`millrace: ${problem}`)
    return 2
  }
  stdout(JSON.stringify(maskedConfig(reading.config), null, 2))
  return 0
}
