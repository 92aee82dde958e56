// Runs the tests of kit's packages from their sources: nothing is compiled before.
const setup = ['setup-dev-mode', 'setup-define-version-constant', 'setup-webcrypto', 'setup-undici-fetch']

module.exports = {
  rootDir: `${__dirname}/checkout`,
  roots: ['rpc-api', 'rpc-graphql', 'rpc-subscriptions', 'rpc-subscriptions-api', 'sysvars'].map(
    (name) => `<rootDir>/packages/${name}/src/__tests__/`
  ),
  resetMocks: true,
  restoreMocks: true,
  globals: { __BROWSER__: false, __NODEJS__: true, __REACTNATIVE__: false },
  setupFilesAfterEnv: setup.map((name) => `<rootDir>/packages/test-config/${name}.ts`),
  testPathIgnorePatterns: ['__setup__.ts', '-test.browser.tsx?$'],
  moduleNameMapper: {
    '^@solana/([a-z0-9-]+-impl)$': '<rootDir>/packages/$1/src/index.node.ts',
    '^@solana/([a-z0-9-]+)$': '<rootDir>/packages/$1/src'
  },
  transform: {
    '^.+\\.(ts|js)x?$': ['@swc/jest', { jsc: { target: 'es2020', parser: { syntax: 'typescript' } } }]
  },
  transformIgnorePatterns: ['/node_modules/(?!.*(@noble/ed25519|chalk|commander)/)']
}
