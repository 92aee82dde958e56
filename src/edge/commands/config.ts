import type { Invocation } from '../../kernel/cli/command.ts'

/** Prints the effective configuration as JSON, secrets masked. */
export async function config({ config, configuration, stdout }: Invocation): Promise<number> {
  stdout(JSON.stringify(configuration.maskedConfig(config), null, 2))
  return 0
}
