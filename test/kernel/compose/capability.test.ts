import t from 'tap'
import { Capabilities, type Capability } from '../../../src/kernel/compose/capability.ts'

interface Kernel {
  readonly name: string
  readonly get: <T>(capability: Capability<Kernel, T>) => T
}

function open() {
  const capabilities = new Capabilities<Kernel>()
  const kernel: Kernel = { name: 'the kernel', get: (capability) => capabilities.get(capability, kernel) }
  return { capabilities, kernel }
}

t.test('a capability is made once, at its first use, and may use others', async (t) => {
  const made: string[] = []
  const below: Capability<Kernel, { readonly of: string }> = {
    make: ({ name }) => {
      made.push('below')
      return { of: name }
    }
  }
  const above: Capability<Kernel, { readonly below: object }> = {
    make: ({ get }) => {
      made.push('above')
      return { below: get(below) }
    }
  }
  const { kernel } = open()
  t.same(made, [])
  t.equal(kernel.get(above).below, kernel.get(below))
  t.equal(kernel.get(above), kernel.get(above))
  t.same(kernel.get(below), { of: 'the kernel' })
  t.same(made, ['above', 'below'])
})

t.test('two processes have capabilities of their own', async (t) => {
  const object: Capability<Kernel, object> = { make: () => ({}) }
  t.not(open().kernel.get(object), open().kernel.get(object))
})

t.test('a capability may be undefined, and is still made once', async (t) => {
  let made = 0
  const absent: Capability<Kernel, undefined> = { make: () => void made++ }
  const { kernel } = open()
  t.equal(kernel.get(absent), undefined)
  t.equal(kernel.get(absent), undefined)
  t.equal(made, 1)
})

t.test(
  'once all units are wired, a capability that was made is given, and a new one is a fault',
  async (t) => {
    const used: Capability<Kernel, object> = { make: () => ({}) }
    const unused: Capability<Kernel, object> = { make: () => ({}) }
    const { kernel, capabilities } = open()
    const object = kernel.get(used)
    capabilities.seal()
    t.equal(kernel.get(used), object)
    t.throws(() => kernel.get(unused), { name: 'TypeError', message: /first time after the start/ })
  }
)
