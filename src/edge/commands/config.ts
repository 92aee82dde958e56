import { maskedConfig } from '../../kernel/config/config.ts'
import type { Invocation } from '../../kernel/cli/command.ts'

/** Prints the effective configuration as JSON, secrets masked. */
export async function config({ config, stdout }: Invocation): Promise<number> {
  stdout(JSON.stringify(maskedConfig(config), null, 2))
  return 0
}
