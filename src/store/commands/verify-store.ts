import { reportStoreDamage, storeDirectory } from '../opening.ts'
import type { Invocation } from '../../kernel/cli/command.ts'

/**
 * Verifies the checksums of all files of the embedded store. Prints each damage as a line of JSON: the file, the
 * position in it, and the keys, kinds of rows and slots it may affect. Changes nothing and takes no lock, so it can run
 * while the service runs. Resolves with 1 if something is damaged.
 */
export async function verifyStore({ config, stdout, stderr }: Invocation): Promise<number> {
  const complain = (line: string): void => stderr(`millrace: ${line}`)
  if (config.storage !== 'embedded') {
    complain('--store is for the embedded store; a cluster verifies its own files')
    return 2
  }
  const report = await reportStoreDamage(config)
  if (report === null) {
    complain(`there is no store in ${storeDirectory(config)}; set its folder with --data-dir`)
    return 1
  }
  for (const detail of report.fatal) stdout(JSON.stringify({ kind: 'store', detail }))
  for (const { mayHaveHeld, ...damage } of report.damage)
    stdout(JSON.stringify({ kind: 'file', ...damage, may_have_held: mayHaveHeld }))
  const { files, bytes } = report.checked
  const damages = report.fatal.length + report.damage.length
  stderr(`${files} files of ${bytes} bytes checked: ${damages} damages`)
  if (damages > 0) complain('stop the service and run `npx millrace repair`')
  return damages > 0 ? 1 : 0
}
