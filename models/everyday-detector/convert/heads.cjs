// Runs the package's graph with tfjs on prepared tensors, for heads.py:
//     node heads.cjs package/models DIR name ...
// reads DIR/name.input (1 × 3 × 416 × 416 floats), writes DIR/name.json.
const fs = require('fs');
const path = require('path');
const tf = require('@tensorflow/tfjs-core');
const converter = require('@tensorflow/tfjs-converter');
const wasm = require('@tensorflow/tfjs-backend-wasm');

const [models, dir, ...names] = process.argv.slice(2);

function handler(stem) {
  const json = JSON.parse(fs.readFileSync(`${stem}.json`));
  const bin = fs.readFileSync(`${stem}.bin`);
  return {
    load: async () => ({
      modelTopology: json.modelTopology,
      format: json.format,
      signature: json.signature,
      weightSpecs: json.weightsManifest[0].weights,
      weightData: bin.buffer.slice(bin.byteOffset, bin.byteOffset + bin.length),
    }),
  };
}

(async () => {
  const dist = path.dirname(require.resolve('@tensorflow/tfjs-backend-wasm/package.json'));
  wasm.setWasmPaths(`${dist}/dist/`);
  await tf.setBackend('wasm');
  await tf.ready();
  const model = await converter.loadGraphModel(handler(path.join(models, 'nanodet')));
  for (const name of names) {
    const bytes = fs.readFileSync(path.join(dir, `${name}.input`));
    const floats = new Float32Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length));
    const heads = [];
    for (const head of await model.executeAsync(tf.tensor(floats, [1, 3, 416, 416]))) {
      heads.push({ shape: head.shape, data: Array.from(await head.data()) });
    }
    fs.writeFileSync(path.join(dir, `${name}.json`), JSON.stringify(heads));
  }
})();
