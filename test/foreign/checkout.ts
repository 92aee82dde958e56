import { execFileSync } from 'node:child_process'
import { cpSync, existsSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import type { ForeignSuite } from './suite.ts'

const CACHE = join(process.env.TEST_SERVERS_CACHE ?? join(homedir(), '.cache/millrace-tests'), 'foreign')
const PACKAGES = join(import.meta.dirname, 'suites/packages')

/** Thrown if a suite cannot run. The message gives the remedy. */
export class NotReady extends Error {}

/** The folder of a suite: the checkout of its repository, and the packages that its tests need. */
export class SuiteFolder {
  readonly #suite: ForeignSuite
  readonly path: string
  readonly checkout: string

  constructor(suite: ForeignSuite) {
    this.#suite = suite
    this.path = join(CACHE, suite.name)
    this.checkout = join(this.path, 'checkout')
  }

  /**
   * Installs the packages, and points the tests at the URL of the environment.
   *
   * @throws NotReady if the repository is missing or at another commit
   */
  prepare(): void {
    const { repository, commit, name, replacements } = this.#suite
    if (!existsSync(join(this.checkout, '.git')))
      throw new NotReady(
        `${name}: there is no checkout. Fetch it:\n  git clone ${repository} ${this.checkout}\n  git -C ${this.checkout} checkout ${commit}`
      )
    const head = this.#git('rev-parse', 'HEAD').trim()
    if (head !== commit)
      throw new NotReady(
        `${name}: the checkout is at ${head}. The expected differences are those of another commit:\n  git -C ${this.checkout} checkout ${commit}`
      )
    this.#installPackages()
    for (const file of new Set(replacements.map((each) => each.file))) {
      const path = join(this.checkout, file)
      // The file of the commit, whatever an earlier run has made of it.
      const text = replacements
        .filter((each) => each.file === file)
        .reduce(
          (before, { from, to }) => {
            if (!before.includes(from)) throw new NotReady(`${name}: ${file} has no ${from}`)
            return before.replaceAll(from, () => to)
          },
          this.#git('show', `HEAD:${file}`)
        )
      writeFileSync(path, text)
    }
  }

  /** Makes the ledger and the log of a node visible to tests that read its keys and its version there. */
  showLedger(ledger: string, log: string): void {
    const { ledgerAt } = this.#suite
    if (ledgerAt === undefined) return
    const path = join(this.checkout, ledgerAt)
    rmSync(path, { recursive: true, force: true })
    symlinkSync(ledger, path)
    // Where a node without `--log` writes it.
    symlinkSync(log, join(ledger, 'validator.log'))
  }

  #installPackages(): void {
    const { name, installer } = this.#suite
    const source = join(PACKAGES, name)
    const list = installer === 'npm' ? 'package.json' : 'requirements.txt'
    const [wanted, installed] = [join(source, list), join(this.path, `installed-${list}`)]
    const isInstalled =
      existsSync(installed) && readFileSync(wanted, 'utf8') === readFileSync(installed, 'utf8')
    cpSync(source, this.path, { recursive: true })
    if (isInstalled) return
    const run = (command: string, ...args: string[]): void =>
      void execFileSync(command, args, { cwd: this.path, stdio: 'inherit' })
    // Scripts of packages are not run: the tests do not need their compiled output.
    if (installer === 'npm') run('npm', 'install', '--ignore-scripts', '--no-audit', '--no-fund')
    else {
      run('python3', '-m', 'venv', 'venv')
      run('venv/bin/pip', 'install', '--quiet', '--requirement', list)
    }
    cpSync(wanted, installed)
  }

  #git(...args: string[]): string {
    return execFileSync('git', ['-C', this.checkout, ...args], { encoding: 'utf8' })
  }
}
