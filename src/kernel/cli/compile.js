// Fills the cache of compiled code after an installation, so that the first start is as cheap as later ones.
import './compile-cache.js'

try {
  await import('../../edge/commands/serve.ts')
  await import('../../configuration.ts')
  await (await import('../../program.ts')).PROGRAM.products()
  process.argv[2] = '--version'
  process.stdout.write = () => true
  await import('../../main.ts')
} catch {
  // A Node that cannot run the modules compiles nothing; `millrace.js` starts a newer Node.
}
