// Tests of engine/core/hresult: conversion to and from names. The values are those of winerror.h.
#include "engine/core/hresult.h"

#include <gtest/gtest.h>

namespace dmlconform::core::hresult_test {
namespace {

TEST(HResult, NamesAndValues) {
    struct Row {
        std::uint32_t value;
        const char* name;
    };
    const Row rows[] = {
        {0x00000000, "S_OK"},
        {0x80070057, "E_INVALIDARG"},
        {0x80004001, "E_NOTIMPL"},
        {0x8007000e, "E_OUTOFMEMORY"},
        {0x80004005, "E_FAIL"},
        {0x80004002, "E_NOINTERFACE"},
        {0x8000ffff, "E_UNEXPECTED"},
        {0x887a0004, "DXGI_ERROR_UNSUPPORTED"},
        {0x887a0005, "DXGI_ERROR_DEVICE_REMOVED"},
        {0x887a0006, "DXGI_ERROR_DEVICE_HUNG"},
        {0x887a0007, "DXGI_ERROR_DEVICE_RESET"},
    };
    for (const Row& row : rows) {
        const auto code = static_cast<HResult>(row.value);
        EXPECT_EQ(to_string(code), row.name);
        EXPECT_EQ(parse_hresult(row.name), code);
    }
    EXPECT_EQ(to_string(HResult::invalid_argument), "E_INVALIDARG");
    EXPECT_EQ(to_string(HResult::not_implemented), "E_NOTIMPL");
    EXPECT_EQ(to_string(HResult::out_of_memory), "E_OUTOFMEMORY");
    EXPECT_EQ(to_string(HResult::fail), "E_FAIL");
    EXPECT_EQ(to_string(HResult::ok), "S_OK");
}

TEST(HResult, NumbersForCodesWithoutAName) {
    EXPECT_EQ(to_string(static_cast<HResult>(0x00abcdefu)), "0x00abcdef");
    EXPECT_EQ(parse_hresult("0x80070057"), HResult::invalid_argument);
    EXPECT_EQ(parse_hresult("0x8007000E"), HResult::out_of_memory);
    EXPECT_EQ(parse_hresult("0x1"), static_cast<HResult>(1));
    EXPECT_EQ(parse_hresult("0xffffffff"), static_cast<HResult>(0xffffffff));
    for (const char* text : {"", "0x", "0x100000000", "0x8007005g", "0x-1", "0x 1", "2147942487", "e_invalidarg",
                             "E_INVALIDARG ", "E_", "0x0x1"}) {
        EXPECT_EQ(parse_hresult(text), std::nullopt) << '"' << text << '"';
    }
}

}  // namespace
}  // namespace dmlconform::core::hresult_test
