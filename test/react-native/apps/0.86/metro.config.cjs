const { getDefaultConfig } = require('@react-native/metro-config');
const { adapted } = require('../metro.cjs');

module.exports = adapted(getDefaultConfig(__dirname), __dirname);
